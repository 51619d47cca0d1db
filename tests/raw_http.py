"""HTTP by hand over a plain socket: requests that arrive in drips or not at all, answers that are not read."""

import contextlib
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

SECONDS = 60


@dataclass(frozen=True)
class RawResponse:
    """What came back before the connection was closed or the answer was complete."""

    status: int
    headers: dict[str, str]
    body: bytes


class RawConnection:
    """One TCP connection to the server of `url`; `source` is the address it comes from."""

    def __init__(self, url: str, *, source: str = "127.0.0.1", receive_buffer: int | None = None) -> None:
        address = urlsplit(url)
        self._address = (address.hostname or "", address.port or 80)
        self.socket = socket.socket()
        self.socket.settimeout(SECONDS)
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.bind((source, 0))
        self.socket.connect(self._address)

    @property
    def host(self) -> str:
        return f"{self._address[0]}:{self._address[1]}"

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def send_head(self, method: str, path: str, **headers: str) -> None:
        """The request line and headers (`Content_Length="5"`), to the empty line."""
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        head = "\r\n".join([f"{method} {path} HTTP/1.1", f"Host: {self.host}", *lines, "", ""])
        self.send(head.encode())

    def has_answer(self) -> bool:
        """Whether something has come back, or the server closed it."""
        self.socket.setblocking(False)
        try:
            self.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True
        finally:
            self.socket.settimeout(SECONDS)
        return True

    def response(self) -> RawResponse:
        """The next answer, read by its Content-Length or to the end."""
        stream = self.socket.makefile("rb")
        status = stream.readline().split(b" ", 2)
        if len(status) < 2:
            raise ConnectionError("closed without an answer")
        headers: dict[str, str] = {}
        while (line := stream.readline().strip()) != b"":
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        length = headers.get("content-length")
        body = stream.read() if length is None else stream.read(int(length))
        return RawResponse(int(status[1]), headers, body)

    def rest(self) -> bytes:
        """Everything until the server closes."""
        with self.socket.makefile("rb") as stream:
            return stream.read()

    def close(self) -> None:
        self.socket.close()


@contextlib.contextmanager
def raw_connection(url: str, **options: object) -> Iterator[RawConnection]:
    connection = RawConnection(url, **options)  # type: ignore[arg-type]
    try:
        yield connection
    finally:
        connection.close()
