"""One libcurl handle: a kept-alive connection and the options that every request shares."""

import os
import select
import ssl
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import certifi
import pycurl

from .errors import NoResponse, NotSent
from .response import Response

CONNECT_SECONDS = 2.0
IDLE_SECONDS = 20
"""A connection unused for so long is not used again: servers close theirs after a minute or more."""
LIFETIME_SECONDS = 30
"""A connection older than this is not used again, however busy it is. What leads to several servers (a Service of Kubernetes, a balancer of
connections) sends new connections only to those that are ready; one that is made would keep to its server for ever."""
MAX_BODY = 512 * 1024 * 1024

LONG_CALL_SECONDS = 5.0
"""Who gives a call so long (an import) expects it to be slow: that it has no answer yet says nothing about the server."""

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
LOOPBACK = "localhost,127.0.0.1,::1"

_SUPPRESS_CONNECT_HEADERS = 265
_QUICK_EXIT = 322
"""CURLOPT_QUICK_EXIT: a name server that does not answer cannot hold up a call whose time is over."""


class Handle:
    """Sends one request at a time. Not for two threads at once."""

    def __init__(self) -> None:
        self._requests = 0
        self._repeatable = self._reads_headers = False
        self._poll, self._polled = select.poll(), -1
        self._curl = curl = pycurl.Curl()
        for option, value in _options().items():
            curl.setopt(option, value)
        curl.setopt(pycurl.PREREQFUNCTION, self._before_request)
        curl.setopt(pycurl.XFERINFOFUNCTION, _let_python_act)

    def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        timeout: float,
        *,
        all_headers: bool = True,
    ) -> Response:
        """`timeout`: seconds for everything from the name look-up to the last byte. Without `all_headers` the response has
        only those that libcurl itself reads: it hands the others to Python one by one. Raises NotSent or NoResponse."""
        curl, lines, chunks = self._curl, [], []  # type: Any, list[bytes], list[bytes]
        self._requests, self._repeatable = 0, method in SAFE_METHODS
        curl.setopt(pycurl.URL, url)
        curl.setopt(pycurl.FRESH_CONNECT, self._was_closed())
        _set_method(curl, method, body)
        curl.setopt(pycurl.HTTPHEADER, _header_lines(tuple(headers.items())))
        curl.setopt(pycurl.TIMEOUT_MS, max(1, int(timeout * 1000)))
        curl.setopt(pycurl.NOPROGRESS, timeout < LONG_CALL_SECONDS)
        curl.setopt(pycurl.CONNECTTIMEOUT_MS, max(1, int(min(timeout, CONNECT_SECONDS) * 1000)))
        self._read_headers(lines if all_headers else None)
        curl.setopt(pycurl.WRITEFUNCTION, chunks.append)
        try:
            curl.perform()
            if not all_headers:
                lines = self._known_headers()
            return Response(curl.getinfo(pycurl.RESPONSE_CODE), lines, b"".join(chunks))
        except pycurl.error as error:
            raise self._failure(error) from error
        finally:
            chunks.clear()
            if body:
                curl.setopt(pycurl.POSTFIELDS, b"")

    def close(self) -> None:
        self._curl.close()

    def detach(self) -> None:
        """In a forked child: closing this handle must not say good-bye on the connection, which is the parent's."""
        socket = self._curl.getinfo(pycurl.ACTIVESOCKET)
        if socket >= 0:
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, socket)
            os.close(null)

    def _read_headers(self, lines: list[bytes] | None) -> None:
        """Into `lines`, or not at all. Each line would wait for the interpreter while other threads work."""
        if lines is not None:
            self._curl.setopt(pycurl.HEADERFUNCTION, lines.append)
        elif self._reads_headers:
            self._curl.unsetopt(pycurl.HEADERFUNCTION)
        self._reads_headers = lines is not None

    def _known_headers(self) -> list[bytes]:
        content_type = self._curl.getinfo(pycurl.CONTENT_TYPE)
        seconds = self._curl.getinfo(pycurl.RETRY_AFTER)
        return [
            *([f"Content-Type: {content_type}".encode("latin-1")] if content_type else ()),
            *([b"Retry-After: %d" % seconds] if seconds else ()),
        ]

    def _was_closed(self) -> bool:
        """An idle connection with something to read was closed by the server; libcurl looks only once a second."""
        socket = self._curl.getinfo(pycurl.ACTIVESOCKET)
        if socket < 0:
            return False
        if socket != self._polled:
            self._poll, self._polled = select.poll(), socket
            self._poll.register(socket, select.POLLIN)
        return bool(self._poll.poll(0))

    def _before_request(self, *_: Any) -> int:
        """libcurl repeats a request by itself when a kept connection turns out to be closed: only a safe one may be."""
        self._requests += 1
        allowed = self._requests == 1 or self._repeatable
        return int(pycurl.PREREQFUNC_OK if allowed else pycurl.PREREQFUNC_ABORT)

    def _failure(self, error: pycurl.error) -> NotSent | NoResponse:
        code, reason = error.args[0], error.args[1] if len(error.args) > 1 else ""
        if self._requests == 0:
            return NotSent(f"{reason} (libcurl {code})")
        if code == pycurl.E_ABORTED_BY_CALLBACK:
            reason = "the server closed the connection without an answer"
        return NoResponse(f"{reason} (libcurl {code})")


def _let_python_act(*_: int) -> None:
    """libcurl calls this several times a second of a long call: where Python gets to act on Ctrl-C."""


def trusted_certificates() -> str:
    """The file of certificate authorities: what the environment names, else the system's, else certifi's."""
    named = (os.environ.get(name) for name in ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"))
    return next(filter(None, named), None) or ssl.get_default_verify_paths().cafile or certifi.where()


def _options() -> dict[int, Any]:
    """What every request shares. Proxies are those of the environment (HTTPS_PROXY, http_proxy, NO_PROXY), never for this machine itself."""
    excepted = os.environ.get("no_proxy") or os.environ.get("NO_PROXY") or ""
    return {
        pycurl.NOSIGNAL: 1,
        _QUICK_EXIT: 1,
        _SUPPRESS_CONNECT_HEADERS: 1,
        pycurl.PROTOCOLS: pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS,
        pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_1_1,
        pycurl.FOLLOWLOCATION: 0,
        pycurl.PATH_AS_IS: 1,
        pycurl.MAXCONNECTS: 1,
        pycurl.MAXAGE_CONN: IDLE_SECONDS,
        pycurl.MAXLIFETIME_CONN: LIFETIME_SECONDS,
        pycurl.MAXFILESIZE_LARGE: MAX_BODY,
        pycurl.TCP_KEEPALIVE: 1,
        pycurl.USERAGENT: "",
        pycurl.CAINFO: trusted_certificates(),
        pycurl.NOPROXY: excepted if excepted == "*" else f"{excepted},{LOOPBACK}".lstrip(","),
    }


def _set_method(curl: Any, method: str, body: bytes | None) -> None:
    if body is not None or method in ("POST", "PUT", "PATCH"):
        curl.setopt(pycurl.POST, 1)
        curl.setopt(pycurl.POSTFIELDS, body or b"")
    elif method == "HEAD":
        curl.setopt(pycurl.NOBODY, 1)
    else:
        curl.setopt(pycurl.HTTPGET, 1)
    curl.setopt(pycurl.CUSTOMREQUEST, method)


@lru_cache(512)
def _header_lines(headers: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """As libcurl takes them: what it would add by itself (Expect, a form's Content-Type) is left out."""
    lines = [f"{name}: {value}" if value else f"{name};" for name, value in headers]
    joined = "".join(lines)
    if "\n" in joined or "\r" in joined:
        raise ValueError("A header holds a line break.")
    return (*lines, "Expect:", "Content-Type:")
