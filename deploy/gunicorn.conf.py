"""How gunicorn runs every service, on a laptop and in a container: one file, sizes from the environment.

Several workers share the memory of an application that is loaded before they are forked; for one alone it would only be
held twice. A broken start ends gunicorn either way. SIGTERM finishes what is in flight and leaves within ten seconds.
"""

import gc
import os
import resource
import tempfile

from deploy.http_server.worker import Worker

# A connection is a file: as many as the system lets us have, at most what the workers need.
MAX_FILES = 16384
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
if soft != resource.RLIM_INFINITY and soft < MAX_FILES:
    most = MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))

bind = os.environ.get("BIND", "0.0.0.0:8000")
worker_class = Worker
workers = int(os.environ.get("WEB_WORKERS", "1"))
threads = int(os.environ.get("WEB_THREADS", "8"))
worker_connections = 2000
preload_app = workers > 1
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


def post_worker_init(worker) -> None:
    """The same of what a worker has loaded by itself: each full collection would look through all of it, while requests wait. And what a
    request makes is hardly ever garbage that only a collection finds: to look for it after each 700 new objects is a seventh of an import."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, *gc.get_threshold()[1:])


def child_exit(server, worker) -> None:
    """A worker that is gone no longer counts in gauges."""
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        from prometheus_client.multiprocess import mark_process_dead  # not before the variable above is set

        mark_process_dead(worker.pid)
