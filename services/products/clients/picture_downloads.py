"""Pictures from anywhere on the web: small enough, soon enough, and from no address of our own network."""

import io
import ipaddress
import socket
from typing import Any, Final

import pycurl

from shared.errors import Invalid

SECONDS: Final = 10
CONNECT_SECONDS: Final = 4
MAX_REDIRECTS: Final = 3
_WEB: Final = pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS
_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class NotFetched(Invalid):
    code, title = "picture_not_fetched", "The picture cannot be fetched"


class PictureDownloads:
    """`networks`: private ones that are asked all the same. Each connection's address is looked at, whatever name or redirect led to it."""

    def __init__(self, max_bytes: int, networks: str = "") -> None:
        self._max_bytes = max_bytes
        self._networks = [ipaddress.ip_network(each) for each in networks.split()]

    def fetch(self, address: str) -> bytes | NotFetched:
        """The bytes behind an address, or why there are none. No database call."""
        body = io.BytesIO()
        refused: list[str] = []
        curl = pycurl.Curl()
        try:
            self._prepare(curl, address, body, refused)
            curl.perform()
            status = curl.getinfo(pycurl.RESPONSE_CODE)
        except (pycurl.error, ValueError, UnicodeError) as error:
            if refused:
                return NotFetched(f"{refused[0]} is not an address of the public network.")
            return NotFetched(_words(error, self._max_bytes))
        finally:
            curl.close()
        if status != 200:
            return NotFetched(f"the server answers {status}.")
        return body.getvalue()

    def _prepare(self, curl: pycurl.Curl, address: str, body: io.BytesIO, refused: list[str]) -> None:
        def take(chunk: bytes) -> int:
            return body.write(chunk) if body.tell() + len(chunk) <= self._max_bytes else 0

        def connect(purpose: int, target: Any) -> Any:
            host = str(target.addr[0])
            if not self._is_allowed(host):
                refused.append(host)
                return pycurl.SOCKET_BAD
            return socket.socket(target.family, target.socktype, target.protocol)

        curl.setopt(pycurl.URL, address)
        curl.setopt(pycurl.PROTOCOLS, _WEB)
        curl.setopt(pycurl.REDIR_PROTOCOLS, _WEB)
        curl.setopt(pycurl.FOLLOWLOCATION, True)
        curl.setopt(pycurl.MAXREDIRS, MAX_REDIRECTS)
        curl.setopt(pycurl.PROXY, "")
        curl.setopt(pycurl.NOSIGNAL, True)
        curl.setopt(pycurl.TIMEOUT, SECONDS)
        curl.setopt(pycurl.CONNECTTIMEOUT, CONNECT_SECONDS)
        curl.setopt(pycurl.MAXFILESIZE, self._max_bytes)
        curl.setopt(pycurl.HTTPHEADER, ["Accept: image/*", "User-Agent: Aisle"])
        curl.setopt(pycurl.WRITEFUNCTION, take)
        curl.setopt(pycurl.OPENSOCKETFUNCTION, connect)

    def _is_allowed(self, host: str) -> bool:
        found = ipaddress.ip_address(host.partition("%")[0])
        if isinstance(found, ipaddress.IPv6Address):
            if found.ipv4_mapped is not None:
                found = found.ipv4_mapped
            elif found in _NAT64:
                found = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if any(found.version == each.version and found in each for each in self._networks):
            return True
        return found.is_global and not found.is_multicast


def _words(error: Exception, max_bytes: int) -> str:
    code = error.args[0] if isinstance(error, pycurl.error) else None
    if code in (pycurl.E_WRITE_ERROR, pycurl.E_FILESIZE_EXCEEDED):
        return f"it has more than {max_bytes} bytes."
    if code == pycurl.E_OPERATION_TIMEDOUT:
        return f"it did not come within {SECONDS} seconds."
    return "nothing answers there."
