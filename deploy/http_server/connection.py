"""One client's connection: what was received and not used yet, what is still to be sent, and how long that may take.

Either the worker's main loop or one thread works with it at a time. To gunicorn's parser and response it is the socket.
"""

import select
import socket
import time
from collections import deque
from typing import Any

from gunicorn.http.errors import ParseException

from deploy.http_server.framing import Framing, NotBuffered, read_framing

READ_SIZE = 64 * 1024
MAX_PENDING_OUTPUT = 1024 * 1024
THREAD_WAIT_SECONDS = 10.0
THREAD_BYTES_PER_SECOND = 16 * 1024
_MAX_SENT_AT_ONCE = 64
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class RequestTimeout(ParseException):
    """The body comes too slowly for a thread to wait for it; `status` is what to answer."""

    status = 408

    def __str__(self) -> str:
        return "The body did not arrive in time."


class Connection:
    """A client's socket (never blocking) with its buffers."""

    def __init__(self, client_socket: socket.socket, client: Any, server: Any, now: float) -> None:
        client_socket.setblocking(False)
        self.socket, self.client, self.server = client_socket, client, server
        self.received = bytearray()
        self.framing: Framing | None = None
        self.streams = False
        self.must_close = False
        self.watched = 0
        self.callback: Any = None
        self.deadline = now
        self.closing = False
        self._allowed = 0.0
        self.discarded = 0
        self.output: deque[memoryview] = deque()
        self.output_size = 0
        self._searched = 0
        self.head = self._request = memoryview(b"")
        self._continue_sent = self._corked = False
        self._waited, self._moved = 0.0, 0
        self.parked = self.was_parked = False

    # The main loop's side (of the next request, a thread's that listens to it).

    def allow(self, seconds: float) -> None:
        """Time for what the client sends now; the same again does not prolong it."""
        if seconds != self._allowed:
            self._allowed = seconds
            self.deadline = time.monotonic() + seconds

    def receive(self) -> bool:
        """Takes what has arrived; False when nothing has, raises OSError (ConnectionError at the end) when nothing more will."""
        try:
            data = self.socket.recv(READ_SIZE)
        except BlockingIOError:
            return False
        if not data:
            raise ConnectionAbortedError
        self.received += data
        return True

    def request_is_complete(self) -> bool:
        """Whether a thread need not wait for it: all of it is here, or its body is one that a thread must read."""
        if self.framing is None:
            self.framing = read_framing(self.received, self._searched)
            self._searched = len(self.received)
            if self.framing is None:
                return False
        try:
            end = self.framing.end(self.received)
        except NotBuffered:
            self.streams, end = True, len(self.received)
        if end is None:
            self._ask_for_body()
            return False
        self.must_close = self.framing.malformed
        self.head = self._request = memoryview(bytes(self.received[:end]))
        del self.received[:end]
        return True

    def _ask_for_body(self) -> None:
        if self.framing and self.framing.expects_continue and not self._continue_sent:
            self._continue_sent = True
            self.sendall(_CONTINUE)

    def path(self) -> bytes:
        """The path of the request, as it was sent."""
        line = bytes(self.head[:256]).split(b"\r\n", 1)[0].split(b" ")
        return line[1].partition(b"?")[0] if len(line) == 3 else b""

    def start_request(self) -> None:
        """A thread begins with it: nothing was waited for or moved so far."""
        self._corked, self._waited, self._moved = True, 0.0, 0

    def end_request(self) -> None:
        """What a thread left of its own reading is the beginning of the next request."""
        self.framing, self._searched, self._allowed = None, 0, 0.0
        self.head = self._request = memoryview(b"")
        self.streams = self._continue_sent = False
        self.parked = self.was_parked = False

    def unpark(self) -> None:
        """The request is run once more from its beginning."""
        self._request = self.head
        self.parked, self.was_parked = False, True

    def held(self) -> int:
        """Bytes in memory for this client."""
        return len(self.received) + self.output_size

    def drop_output(self) -> None:
        """What the client does not take it will not get."""
        self.output.clear()
        self.output_size = 0

    def refuse(self, response: bytes) -> None:
        """The last that is sent here; the main loop sends it."""
        self.output.append(memoryview(response))
        self.output_size += len(response)

    def flush(self) -> bool:
        """Sends what can be sent without waiting; whether that was all. Raises OSError when the client is gone."""
        while self.output:
            parts = [self.output[index] for index in range(min(len(self.output), _MAX_SENT_AT_ONCE))]
            try:
                sent = self.socket.sendmsg(parts)
            except BlockingIOError:
                return False
            self._moved += sent
            self.output_size -= sent
            while sent:
                first = self.output.popleft()
                if len(first) > sent:
                    self.output.appendleft(first[sent:])
                    break
                sent -= len(first)
        return True

    # The thread's side: what gunicorn expects of a socket.

    def recv(self, size: int) -> bytes:
        """The request that is here already, then, of one whose body is streamed, what arrives at a fair rate."""
        if self._request:
            data, self._request = bytes(self._request[:size]), self._request[size:]
            return data
        if not self.streams:
            return b""
        self._ask_for_body()
        self.flush()
        while True:
            try:
                data = self.socket.recv(size)
            except BlockingIOError:
                self._wait(select.POLLIN)
            else:
                self._moved += len(data)
                return data

    def send(self, data: bytes) -> int:
        """gunicorn's `100 Continue`: sent when the body is first read, so that who is refused need not send it."""
        return len(data)

    def sendall(self, data: bytes) -> None:
        """Sends, keeps what the client is slow to take, and waits (at a fair rate) only for who is far behind."""
        if data:
            self.output.append(memoryview(data))
            self.output_size += len(data)
        if self._corked:
            self._corked = False  # the head of a response leaves with the beginning of its body
            return
        self.flush()
        while self.output_size > MAX_PENDING_OUTPUT and len(self.output) > 1:
            self._wait(select.POLLOUT)
            self.flush()

    def _wait(self, event: int) -> None:
        began = time.monotonic()
        allowed = THREAD_WAIT_SECONDS + self._moved / THREAD_BYTES_PER_SECOND - self._waited
        poller = select.poll()
        poller.register(self.socket, event)
        if not poller.poll(max(0.0, allowed) * 1000):
            raise RequestTimeout if event == select.POLLIN else TimeoutError
        self._waited += time.monotonic() - began
