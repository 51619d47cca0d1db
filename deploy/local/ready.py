"""Is a port free, and does an address answer? The launcher's two questions to the network."""

import asyncio
import socket
from collections.abc import Iterable
from urllib.parse import urlsplit


def busy(ports: Iterable[int]) -> list[int]:
    """Those of `ports` on which something listens already."""
    return [port for port in ports if not _free(port)]


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


async def answers(address: str) -> bool:
    """Whether `http://host:port/path` answers 200, or `tcp://host:port` accepts."""
    parts = urlsplit(address)
    try:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    except OSError:
        return False
    try:
        return parts.scheme == "tcp" or await _ok(reader, writer, parts.path or "/", parts.netloc)
    except OSError:
        return False
    finally:
        writer.close()


async def _ok(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, host: str) -> bool:
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    await writer.drain()
    return b" 200 " in await reader.readline()
