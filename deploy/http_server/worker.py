"""The worker: one main loop that waits for all clients, and threads that run the application."""

import errno
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from gunicorn.http import wsgi
from gunicorn.http.parser import RequestParser
from gunicorn.workers.gthread import ThreadWorker

from deploy.http_server import problems
from deploy.http_server.connection import Connection
from deploy.http_server.framing import MAX_HEAD
from deploy.http_server.free_memory import FreeMemory
from deploy.http_server.problems import Refusal, refusal_for
from deploy.http_server.responses import Response, keeps_connection
from deploy.http_server.threads import Threads

HEAD_SECONDS = 10.0
BODY_SECONDS = 30.0
STREAM_QUEUE_SECONDS = 10.0
FLUSH_SECONDS, FLUSH_BYTES_PER_SECOND = 30.0, 4 * 1024
LINGER_SECONDS, MAX_LINGER_BYTES = 10.0, 64 * 1024 * 1024
LISTEN_SECONDS = 0.05
"""So long a thread waits for the next request of a connection before the main loop does."""
STOP_SECONDS = 2.0
MAX_BUFFERED = 64 * 1024 * 1024
LARGE = 64 * 1024
ACCEPTED_AT_ONCE = 16
PARK, WAS_PARKED = "aisle.park", "aisle.was_parked"
"""In a request's environment: has it run again later without a thread meanwhile, and whether this is that time."""
RESERVED_PATHS = frozenset({b"/health/live", b"/metrics"})
"""Answered on a thread of their own: they need no database, and are asked when all other threads wait for it."""


class Worker(ThreadWorker):
    """Threads see a request when it is here, and are free when its response is written, however slow its client is."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.connections: dict[Connection, None] = {}
        self.large: dict[Connection, None] = {}
        self.streams_waiting: deque[Connection] = deque()
        self.streams_running = 0
        self.max_streams = max(1, self.cfg.threads // 2)
        self._parked: set[Connection] = set()
        self._resumed: set[Connection] = set()
        self.reserved_pool = Threads(1, self._run_reserved)
        self.answered = 0
        """About how many requests: threads that count at once may count one."""
        self._free_memory = FreeMemory()
        self._next_sweep = 0.0

    @classmethod
    def check_config(cls, cfg: Any, log: Any) -> None:
        if cfg.is_ssl:
            raise RuntimeError("TLS ends at the gateway: this worker speaks plain HTTP.")

    def get_thread_pool(self) -> Threads[Connection]:
        return Threads(self.cfg.threads, self._run_requests)

    def init_process(self) -> None:
        # gunicorn looks each setting up in a dictionary of setting objects, some twenty times a request
        vars(self.cfg).update({name: setting.get() for name, setting in self.cfg.settings.items()})
        super().init_process()

    # The loop.

    def run(self) -> None:
        self.poller.register(
            self.method_queue.fileno(), selectors.EVENT_READ, self.method_queue.run_callbacks
        )
        self.set_accept_enabled(True)
        while self.alive and self.is_parent_alive():
            self._run_once()
        self._stop()

    def _run_once(self) -> None:
        self.notify()
        self.wait_for_and_dispatch_events(timeout=1.0)
        now = time.monotonic()
        if now >= self._next_sweep:
            self._next_sweep = now + 1.0
            self._expire(now)
            self._free_memory.look(self.answered)

    def _stop(self) -> None:
        """Answers what is under way; connections that wait for a request are kept a moment for one that is coming."""
        self.set_accept_enabled(False)
        for connection in list(self._parked):
            self._resume(connection)
        now = time.monotonic()
        for connection in self.connections:
            connection.deadline = min(connection.deadline, now + STOP_SECONDS)
        ends = now + self.cfg.graceful_timeout
        while self.connections and time.monotonic() < ends:
            self._run_once()
        self.tpool.shutdown()
        self.reserved_pool.shutdown()
        self.poller.close()
        self.method_queue.close()
        for listener in self.sockets:
            listener.close()

    def accept(self, listener: socket.socket) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                client_socket, client = listener.accept()
            except OSError as error:
                if error.errno in (errno.EMFILE, errno.ENFILE) and self._make_room():
                    continue
                return
            is_full = len(self.connections) >= self.worker_connections and not self._make_room()
            now = time.monotonic()
            connection = Connection(client_socket, client, listener.getsockname(), now + HEAD_SECONDS)
            self.connections[connection] = None
            if is_full:
                self._refuse(connection, problems.OVERLOADED)
            else:
                self._on_readable(connection)

    def _make_room(self) -> bool:
        """Closes the connection that has been waited for longest; whether there was one."""
        for connection in self.connections:
            if connection.watched:
                self._close(connection)
                return True
        return False

    def _expire(self, now: float) -> None:
        for connection in [each for each in self.connections if each.deadline < now]:
            if connection in self.streams_waiting:
                self.streams_waiting.remove(connection)
                self._refuse(connection, problems.BUSY)
            elif not connection.watched:
                continue  # a thread has it
            elif connection.closing or connection.output or not connection.received:
                self._close(connection)
            else:
                self._refuse(connection, problems.HEAD_TOO_SLOW)

    # Reading.

    def _on_readable(self, connection: Connection, _: object = None) -> None:
        try:
            if not connection.receive():
                self._watch(connection, selectors.EVENT_READ, self._on_readable)
                return
            self._advance(connection)
        except OSError:
            self._close(connection)

    def _advance(self, connection: Connection) -> None:
        """Hands the request to a thread when it is here, otherwise goes on reading."""
        if connection.request_is_complete():
            self._unwatch(connection)
            self.large.pop(connection, None)
            self._dispatch(connection)
            return
        if connection.framing is None and len(connection.received) > MAX_HEAD:
            line_ended = b"\r\n" in connection.received[: self.cfg.limit_request_line]
            self._refuse(connection, problems.HEAD_TOO_LARGE if line_ended else problems.URI_TOO_LONG)
            return
        connection.allow(HEAD_SECONDS if connection.framing is None else BODY_SECONDS)
        self._watch(connection, selectors.EVENT_READ, self._on_readable)
        self._limit_memory(connection)

    def _limit_memory(self, connection: Connection) -> None:
        """While too much is held for slow clients, those go first that have been slow for longest."""
        if connection.held() <= LARGE:
            return
        self.large[connection] = None
        total = sum(each.held() for each in self.large)
        while total > MAX_BUFFERED:
            oldest = next(iter(self.large))
            total -= oldest.held()
            if oldest.output:
                self._close(oldest)
            else:
                self._refuse(oldest, problems.BUSY)

    # Threads.

    def _dispatch(self, connection: Connection) -> None:
        if not connection.streams:
            reserved = connection.path() in RESERVED_PATHS
            (self.reserved_pool if reserved else self.tpool).submit(connection)
        elif self.streams_running < self.max_streams:
            self.streams_running += 1
            self.tpool.submit(connection)
        else:
            connection.deadline = time.monotonic() + STREAM_QUEUE_SECONDS
            self.streams_waiting.append(connection)

    def _run_reserved(self, connection: Connection) -> None:
        connection.closing = not self.handle(connection)
        self.method_queue.defer(self._finish, connection)

    def _run_requests(self, connection: Connection) -> None:
        """Runs in a thread: answers the request, and those that follow it at once, without a way through the main loop."""
        go_on: Callable[[Connection], None] | None = None
        while go_on is None:
            connection.closing = not self.handle(connection)
            if connection.parked:
                go_on = self._park
                break
            self.answered += 1
            go_on = self._after_response(connection)
        self.method_queue.defer(go_on, connection)

    def _after_response(self, connection: Connection) -> Callable[[Connection], None] | None:
        """None when this thread has the next request, otherwise what the main loop does with the connection."""
        if connection.closing or connection.streams or connection.output or not self.alive:
            return self._finish
        connection.end_request()
        try:
            if not connection.received and self.tpool.listen(connection.socket, LISTEN_SECONDS):
                connection.receive()
            if not connection.request_is_complete():
                return self._await_next
        except OSError:
            return self._close
        return self._dispatch if connection.streams or self.tpool.backlog else None

    def handle(self, connection: Connection) -> bool:
        """Runs in a thread: parses and answers one request; whether the connection may have another."""
        connection.start_request()
        try:
            parser = RequestParser(self.cfg, connection, connection.client)
            keep = self._answer(connection, next(parser))
            if connection.streams:
                connection.received[:0] = parser.unreader.take_buffered()
            connection.sendall(b"")
            return keep
        except StopIteration:
            self.log.debug("No (further) request came, or its response broke off.")
        except OSError as error:
            self.log.debug("The client is gone or too slow: %r", error)
            connection.drop_output()
        except BaseException as error:  # SystemExit too: a thread is there for the next request
            refusal = refusal_for(error)
            if refusal is problems.OUR_FAULT:
                self.log.exception("Error handling request")
            connection.refuse(refusal.response(bytes(connection.head)))
        return False

    def _answer(self, connection: Connection, request: Any) -> bool:
        response, environ = wsgi.create(
            request, connection, connection.client, connection.server, self.cfg, response_class=Response
        )
        environ["wsgi.multithread"] = True
        if not connection.streams:
            environ[PARK] = partial(self._parking, connection)
            environ[WAS_PARKED] = connection.was_parked
        if not self.alive or not self.cfg.keepalive:
            response.force_close()
        body = self.wsgi(environ, response.start_response)
        try:
            if connection.parked:
                return True
            response.write_all(body)
        except Exception:
            if response.headers_sent:
                self.log.exception("The response broke off")
                raise StopIteration from None
            raise
        finally:
            if hasattr(body, "close"):
                body.close()
        return keeps_connection(response, request, connection.streams)

    def _finish(self, connection: Connection) -> None:
        """Back in the main loop: what is left is sent, then the next request awaited or the connection closed."""
        if connection.streams:
            self.streams_running -= 1
            if self.streams_waiting:
                self._dispatch(self.streams_waiting.popleft())
        connection.end_request()
        now = time.monotonic()
        connection.deadline = now + FLUSH_SECONDS + connection.output_size / FLUSH_BYTES_PER_SECOND
        self._on_writable(connection)

    # Requests that wait for something without a thread.

    def _parking(self, connection: Connection) -> Callable[[], None]:
        """Called by the application, whose answer is then thrown away: what it returns has the request run again, from any thread."""
        connection.parked = True
        return partial(self.method_queue.defer, self._resume, connection)

    def _park(self, connection: Connection) -> None:
        """Back in the main loop; what came to be known meanwhile resumes it at once."""
        if connection in self._resumed or not self.alive:
            self._resumed.discard(connection)
            self._run_again(connection)
        else:
            self._parked.add(connection)

    def _resume(self, connection: Connection) -> None:
        if connection in self._parked:
            self._parked.discard(connection)
            self._run_again(connection)
        elif connection.parked:
            self._resumed.add(connection)  # its thread is still on its way out

    def _run_again(self, connection: Connection) -> None:
        connection.unpark()
        self.tpool.submit(connection)

    # Writing and closing.

    def _on_writable(self, connection: Connection, _: object = None) -> None:
        try:
            if not connection.flush():
                self._watch(connection, selectors.EVENT_WRITE, self._on_writable)
                self._limit_memory(connection)
                return
            self.large.pop(connection, None)
            if connection.closing:
                self._linger(connection)
            else:
                self._await_next(connection)
        except OSError:
            self._close(connection)

    def _await_next(self, connection: Connection) -> None:
        self.connections.pop(connection, None)
        self.connections[connection] = None  # the one that was of use last is the last to be closed for room
        connection.deadline = time.monotonic() + (self.cfg.keepalive if self.alive else STOP_SECONDS)
        if connection.received:
            self._advance(connection)
        else:
            self._watch(connection, selectors.EVENT_READ, self._on_readable)

    def _linger(self, connection: Connection) -> None:
        """Ends our side and throws away what still comes: closed at once, the response might be lost with it."""
        connection.socket.shutdown(socket.SHUT_WR)
        connection.deadline = time.monotonic() + LINGER_SECONDS
        self._watch(connection, selectors.EVENT_READ, self._discard)

    def _discard(self, connection: Connection, _: object = None) -> None:
        connection.discarded += len(connection.received)
        connection.received.clear()
        try:
            connection.receive()
        except OSError:
            self._close(connection)
            return
        if connection.discarded > MAX_LINGER_BYTES:
            self._close(connection)

    def _refuse(self, connection: Connection, refusal: Refusal) -> None:
        self._unwatch(connection)
        self.large.pop(connection, None)
        connection.refuse(refusal.response(bytes(connection.received[:MAX_HEAD])))
        connection.discarded += len(connection.received)
        connection.received.clear()
        connection.closing = True
        connection.deadline = time.monotonic() + FLUSH_SECONDS
        self._on_writable(connection)

    def _watch(self, connection: Connection, event: int, callback: Any) -> None:
        if connection.watched == event and connection.callback == callback:
            return
        self._unwatch(connection)
        connection.watched, connection.callback = event, callback
        self.poller.register(connection.socket, event, partial(callback, connection))

    def _unwatch(self, connection: Connection) -> None:
        if connection.watched:
            self.poller.unregister(connection.socket)
            connection.watched = 0

    def _close(self, connection: Connection) -> None:
        self._unwatch(connection)
        self.large.pop(connection, None)
        self.connections.pop(connection, None)
        connection.socket.close()
