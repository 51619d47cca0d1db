"""HTTP/1.1 over kept-alive sockets, parsed by httptools: what is left of a client when every call is small and to one host.

http.client and urllib3 spend more CPU on a call's headers than the database spends on a document.
"""

import contextlib
import select
import socket
import ssl
import threading
from collections import deque
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import urlsplit

import httptools

READ_SIZE = 65536


class NotSent(OSError):
    """No connection was made: the server cannot have seen the request."""


class NoAnswer(OSError):
    """The request went out and no whole answer came back: it may have been carried out."""


@dataclass
class Reply:
    """An answer as read; header names in lower case."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    reusable: bool = False


class Reader:
    """The callbacks of httptools for one answer."""

    def __init__(self, head: bool) -> None:
        self.reply, self.head = Reply(), head
        self.chunks: list[bytes] = []
        self.headers_done = self.done = False
        self.parser = httptools.HttpResponseParser(self)

    def on_header(self, name: bytes, value: bytes) -> None:
        self.reply.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self.headers_done = True
        self.reply.status = self.parser.get_status_code()
        self.done = self.head

    def on_body(self, chunk: bytes) -> None:
        self.chunks.append(chunk)

    def on_message_complete(self) -> None:
        """Asked here, because behind the message the parser has forgotten that it was chunked."""
        self.done = True
        self.reply.reusable = not self.head and self.parser.should_keep_alive()

    def ends_with_connection(self) -> bool:
        """Whether an answer without a length is whole once the server hangs up."""
        return self.headers_done and not self.reply.headers.keys() & {"content-length", "transfer-encoding"}

    def finish(self) -> Reply:
        self.reply.body = b"".join(self.chunks)
        return self.reply


class Host:
    """The idle connections to one origin; safe for many threads."""

    def __init__(self, origin: str, most_idle: int) -> None:
        parts = urlsplit(origin)
        self.secure = parts.scheme == "https"
        self.name, self.port = parts.hostname or "", parts.port or (443 if self.secure else 80)
        self.header = f"Host: {parts.netloc.rpartition('@')[2]}\r\n"
        self.idle: deque[socket.socket] = deque(maxlen=most_idle)
        self.lock = threading.Lock()

    @cached_property
    def tls(self) -> ssl.SSLContext:
        return ssl.create_default_context()

    def exchange(
        self, method: str, target: str, headers: dict[str, str], body: bytes | None, timeout: float
    ) -> Reply:
        """One request and its answer. Raises NotSent or NoAnswer."""
        connection = self._take(timeout)
        try:
            connection.settimeout(timeout)
            connection.sendall(self._message(method, target, headers, body))
            reply = _read(connection, Reader(method == "HEAD"))
        except (OSError, httptools.HttpParserError) as error:
            connection.close()
            raise NoAnswer(f"{type(error).__name__}: {error}") from error
        if reply.reusable:
            self._give_back(connection)
        else:
            connection.close()
        return reply

    def _message(self, method: str, target: str, headers: dict[str, str], body: bytes | None) -> bytes:
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        length = (
            f"Content-Length: {len(body or b'')}\r\n" if body is not None or method in ("POST", "PUT") else ""
        )
        return f"{method} {target} HTTP/1.1\r\n{self.header}{lines}{length}\r\n".encode("latin-1") + (
            body or b""
        )

    def _take(self, timeout: float) -> socket.socket:
        while True:
            with self.lock:
                connection = self.idle.pop() if self.idle else None
            if connection is None:
                return self._connect(timeout)
            if not _readable(connection):
                return connection
            connection.close()

    def _connect(self, timeout: float) -> socket.socket:
        try:
            connection = socket.create_connection((self.name, self.port), timeout)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return self.tls.wrap_socket(connection, server_hostname=self.name) if self.secure else connection
        except OSError as error:
            raise NotSent(f"{type(error).__name__}: {error}") from error

    def _give_back(self, connection: socket.socket) -> None:
        with self.lock:
            if len(self.idle) < (self.idle.maxlen or 0):
                self.idle.append(connection)
                return
        with contextlib.suppress(OSError):
            connection.close()


class Pool:
    """Hosts by origin. `connections`: idle connections kept for each."""

    def __init__(self, connections: int = 32) -> None:
        self.connections = connections
        self.hosts: dict[str, Host] = {}

    def exchange(
        self, method: str, url: str, headers: dict[str, str], body: bytes | None, timeout: float
    ) -> Reply:
        """Sends one request to an absolute URL and reads its answer; `timeout` seconds for each wait on the socket."""
        start = url.index("/", url.index("://") + 3)
        origin = url[:start]
        host = self.hosts.get(origin) or self.hosts.setdefault(origin, Host(origin, self.connections))
        return host.exchange(method, url[start:], headers, body, timeout)


def _readable(connection: socket.socket) -> bool:
    """An idle connection that has something to read was closed by the server."""
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(0))


def _read(connection: socket.socket, reader: Reader) -> Reply:
    while not reader.done:
        chunk = connection.recv(READ_SIZE)
        if not chunk:
            if reader.ends_with_connection():
                break
            raise ConnectionResetError("the server hung up")
        reader.parser.feed_data(chunk)
    return reader.finish()
