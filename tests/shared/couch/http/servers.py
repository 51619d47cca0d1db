"""Servers on raw sockets that behave as a test says, connection by connection."""

import contextlib
import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Serve = Callable[["Connection"], None]


class Connection:
    """One accepted connection. `number` counts from 0; requests read are kept in `seen`, for all connections together."""

    def __init__(self, sock: socket.socket, number: int, seen: list[bytes]) -> None:
        self.sock, self.number, self.seen = sock, number, seen
        self._buffer = b""

    def read(self) -> bytes | None:
        """The next request, head and body; None when the client hung up."""
        while b"\r\n\r\n" not in self._buffer:
            if not self._receive():
                return None
        head, _, rest = self._buffer.partition(b"\r\n\r\n")
        length = next((int(v) for k, v in headers(head) if k == "content-length"), 0)
        while len(rest) < length:
            if not self._receive():
                return None
            rest = self._buffer.partition(b"\r\n\r\n")[2]
        self._buffer = rest[length:]
        self.seen.append(head + b"\r\n\r\n" + rest[:length])
        return self.seen[-1]

    def send(self, *parts: bytes) -> None:
        self.sock.sendall(b"".join(parts))

    def _receive(self) -> bool:
        chunk = self.sock.recv(1 << 20)
        self._buffer += chunk
        return bool(chunk)


class RawServer:
    """`url`, the requests `seen`, how many `connections` were made, and `over`, set when the test ends."""

    def __init__(self, serve: Serve, tls: ssl.SSLContext | None, host: str, port: int) -> None:
        self.seen: list[bytes] = []
        self.connections = 0
        self.over = threading.Event()
        self._serve, self._tls = serve, tls
        self.listener = socket.create_server((host, port), backlog=128)
        self.port = self.listener.getsockname()[1]
        self.url = f"http{'s' if tls else ''}://{host}:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                sock, _ = self.listener.accept()
                number = self.connections
                self.connections += 1
                threading.Thread(target=self._talk, args=(sock, number), daemon=True).start()

    def _talk(self, sock: socket.socket, number: int) -> None:
        with contextlib.suppress(OSError), sock:
            served = self._tls.wrap_socket(sock, server_side=True) if self._tls else sock
            with served:
                self._serve(Connection(served, number, self.seen))


@contextlib.contextmanager
def serving(
    serve: Serve, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1", port: int = 0
) -> Iterator[RawServer]:
    """`port` 0 is a free one."""
    server = RawServer(serve, tls, host, port)
    try:
        yield server
    finally:
        server.over.set()
        server.listener.close()


def headers(head: bytes) -> list[tuple[str, str]]:
    lines = head.decode("latin-1").split("\r\n")[1:]
    return [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]


def response(body: bytes = b"", status: str = "200 OK", *lines: str) -> bytes:
    head = "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *lines, "", ""])
    return head.encode() + body


def answering(connection: Connection) -> None:
    """Answers every request with its own body, else with its path."""
    while (request := connection.read()) is not None:
        head, _, body = request.partition(b"\r\n\r\n")
        connection.send(response(body or head.split()[1]))


class Authority:
    """A certificate authority of a test's own: `file` is what a client trusts, `server` what a server shows."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a test's authority")])
        self.file = folder / "authority.pem"
        certificate = self._signed(self._name, self._key, x509.BasicConstraints(ca=True, path_length=None))
        self.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def server(self, *names: str) -> ssl.SSLContext:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
        certificate = self._signed(subject, key, x509.SubjectAlternativeName([_san(name) for name in names]))
        chain = self._folder / f"{names[0]}.pem"
        chain.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain)
        return context

    def _signed(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, extension: x509.ExtensionType
    ) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(hours=1))
            .add_extension(extension, critical=True)
        )
        return builder.sign(self._key, hashes.SHA256())


def _san(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
