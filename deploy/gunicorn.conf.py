"""How gunicorn runs every service, on a laptop and in a container: one file, sizes from the environment.

The application is loaded before the workers are forked, so that they share its memory and a broken
start is seen at once. SIGTERM finishes what is in flight and leaves within ten seconds.
"""

import gc
import json
import os
import tempfile

from gunicorn.http import errors
from gunicorn.util import write_nonblock
from gunicorn.workers.gthread import ThreadWorker

NO_HTTP = {
    errors.LimitRequestLine: (414, "URI Too Long", "uri_too_long"),
    errors.LimitRequestHeaders: (431, "Request Header Fields Too Large", "headers_too_large"),
    errors.ExpectationFailed: (417, "Expectation Failed", "bad_request"),
    errors.UnsupportedTransferCoding: (501, "Not Implemented", "bad_request"),
}


class Worker(ThreadWorker):
    """Answers what is no HTTP, and so reaches no application, as a problem; not in HTML and not into the log."""

    def handle_error(self, req, client, addr, exc) -> None:
        ours = errors.InvalidResponseHeader, errors.InvalidResponseHeaderName
        if not isinstance(exc, errors.ParseException) or isinstance(exc, ours):
            super().handle_error(req, client, addr, exc)
            return
        status, reason, code = NO_HTTP.get(type(exc), (400, "Bad Request", "bad_request"))
        problem = {
            "type": f"urn:aisle:problem:{code}", "title": reason, "status": status,
            "detail": "This is not HTTP as it should be.", "code": code,
        }  # fmt: skip
        body = json.dumps(problem).encode()
        head = (
            f"HTTP/1.1 {status} {reason}\r\nConnection: close\r\nContent-Type: application/problem+json\r\n"
        )
        try:
            write_nonblock(client, f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        except OSError:
            self.log.debug("Nobody is there to read an error message.")


bind = os.environ.get("BIND", "0.0.0.0:8000")
worker_class = Worker
workers = int(os.environ.get("WEB_WORKERS", "1"))
threads = int(os.environ.get("WEB_THREADS", "8"))
preload_app = True
keepalive = 65
timeout = 60
graceful_timeout = 8
control_socket_disable = True
limit_request_line = 8190
forwarded_allow_ips = os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1")
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None
accesslog = None
loglevel = "warning"

if workers > 1:  # /metrics sums over the workers, through files that they share
    os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", tempfile.mkdtemp(prefix="metrics-", dir=worker_tmp_dir))


def pre_fork(server, worker) -> None:
    """What is loaded by now is not garbage: left out of collections, its memory stays shared with the workers."""
    gc.collect()
    gc.freeze()


def child_exit(server, worker) -> None:
    """A worker that is gone no longer counts in gauges."""
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        from prometheus_client.multiprocess import mark_process_dead  # not before the variable above is set

        mark_process_dead(worker.pid)
