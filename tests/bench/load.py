"""The load generator: a process of its own with N keep-alive clients, each sending its next request when the last is answered.

    python -m tests.bench.load http://127.0.0.1:8002 requests.ndjson --clients 16 --seconds 5

A line of the file is {"method", "path", "headers", "body"}; the lines are taken in turn. Prints one JSON object.
"""

import argparse
import asyncio
import itertools
import json
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import httptools
import uvloop


@dataclass
class Outcome:
    """What all clients saw: seconds per answer, how many of each status."""

    times: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)


class Client(asyncio.Protocol):
    """One keep-alive connection. `send` resolves to the status once the answer is whole."""

    transport: asyncio.WriteTransport
    answered: asyncio.Future[int] | None = None
    lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.WriteTransport, transport)

    def connection_lost(self, error: Exception | None) -> None:
        self.lost = True
        if self.answered and not self.answered.done():
            self.answered.set_exception(error or ConnectionResetError("hung up before its answer was whole"))

    def send(self, message: bytes) -> asyncio.Future[int]:
        self.answered = asyncio.get_running_loop().create_future()
        self.parser = httptools.HttpResponseParser(self)
        self.transport.write(message)
        return self.answered

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_message_complete(self) -> None:
        assert self.answered
        self.answered.set_result(self.parser.get_status_code())
        if not self.parser.should_keep_alive():
            self.lost = True
            self.transport.close()


async def run(url: str, messages: Iterator[bytes], clients: int, seconds: float, most: int | None) -> Outcome:
    """Each client sends one request at least, however long it took to connect; a connection that the server ended between two requests
    is made anew, as a browser does. Raises OSError when nobody listens or one is ended before its answer."""
    parts = urlsplit(url)
    outcome, end = Outcome(), time.perf_counter() + seconds
    budget = itertools.count()

    async def visit() -> None:
        loop, client, first = asyncio.get_running_loop(), None, True
        while (first or time.perf_counter() < end) and (most is None or next(budget) < most):
            first = False
            if client is None or client.lost:
                _, client = await loop.create_connection(Client, parts.hostname, parts.port)
            began = time.perf_counter()
            status = await client.send(next(messages))
            outcome.times.append(time.perf_counter() - began)
            outcome.statuses[status] += 1
        if client:
            client.transport.close()

    await asyncio.gather(*(visit() for _ in range(clients)))
    return outcome


def message(row: dict, host: str) -> bytes:
    body = row.get("body", "").encode()
    headers = {"Host": host, **row.get("headers", {})} | ({"Content-Length": str(len(body))} if body else {})
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{row.get('method', 'GET')} {row['path']} HTTP/1.1\r\n{head}\r\n".encode() + body


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("url")
    parser.add_argument("requests", type=Path)
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--most", type=int, help="send no more than this many requests")
    options = parser.parse_args()
    host = urlsplit(options.url).netloc
    lines = [message(json.loads(line), host) for line in options.requests.read_text().splitlines()]
    began = time.perf_counter()
    sending = run(options.url, itertools.cycle(lines), options.clients, options.seconds, options.most)
    try:
        outcome = uvloop.run(sending)
    except OSError as error:
        raise SystemExit(f"{options.url}: {error}") from None
    lasted = time.perf_counter() - began
    times = sorted(outcome.times)
    figures = {
        "requests": len(times),
        "rate": len(times) / lasted,
        "p50_ms": statistics.median(times) * 1000,
        "p99_ms": times[int(len(times) * 0.99)] * 1000,
        "statuses": dict(outcome.statuses),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
