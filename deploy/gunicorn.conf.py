"""How gunicorn runs every service, on a laptop and in a container: one file, sizes from the environment.

The application is loaded before the workers are forked, so that they share its memory and a broken
start is seen at once. SIGTERM finishes what is in flight and leaves within ten seconds.
"""

import os

bind = os.environ.get("BIND", "0.0.0.0:8000")
worker_class = "gthread"
workers = int(os.environ.get("WEB_WORKERS", "1"))
threads = int(os.environ.get("WEB_THREADS", "8"))
preload_app = True
keepalive = 65
timeout = 60
graceful_timeout = 8
control_socket_disable = True
forwarded_allow_ips = os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1")
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None
accesslog = None
loglevel = "warning"
