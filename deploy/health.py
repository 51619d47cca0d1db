"""`python -m deploy.health`: the container's health check. Ends with 0 when the service in it is ready.

The address is HEALTH_URL, or the one that gunicorn binds to. A process without HTTP (worker, follower,
schedule) names in HEARTBEAT_FILE the file it touches while it works; older than a minute is ill.
"""

import os
import sys
import time
import urllib.error
import urllib.request

STALE_SECONDS = 60


def main() -> int:
    file = os.environ.get("HEARTBEAT_FILE")
    problem = _heartbeat(file) if file else _http(os.environ.get("HEALTH_URL") or _own_address())
    if problem:
        print(problem, file=sys.stderr)
    return 1 if problem else 0


def _own_address() -> str:
    port = os.environ.get("BIND", ":8000").rpartition(":")[2]
    return f"http://127.0.0.1:{port}/health/ready"


def _http(url: str) -> str:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return "" if answer.status == 200 else f"{url} answered {answer.status}"
    except (urllib.error.URLError, OSError) as error:
        return f"{url}: {error}"


def _heartbeat(file: str) -> str:
    try:
        age = time.time() - os.stat(file).st_mtime
    except FileNotFoundError:
        return f"{file} does not exist"
    return "" if age < STALE_SECONDS else f"{file} is {age:.0f} s old"


if __name__ == "__main__":
    sys.exit(main())
