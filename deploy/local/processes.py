"""The process table: everything that runs when the shop runs on one machine, a row each."""

import sys
from dataclasses import dataclass, replace

from deploy.local.layout import Layout
from deploy.local.redis_server import redis_server

BACKGROUND_NICENESS = 5
"""What follows a sale waits while customers are answered: nobody looks at it meanwhile."""
SERVER_RESTARTS, TASK_RESTARTS = 5, 2
PICTURES = "pictures"
"""The sample shop's pictures: they come while the shop is open already."""


@dataclass(frozen=True)
class Process:
    """One row.

    `needs` names the rows that must be ready before this one starts. `ready` is the address that
    answers once it works (`http://` with 200, `tcp://` by accepting); without one it is ready when
    started. It is asked once the rows in `ready_after` are ready, which it cannot be without.
    `once` ends by itself and is ready when it ended well; `first` runs only until it has
    ended well against this database server. `last` rows are stopped after all others. `restarts` is how
    often within a minute it is started again when it died; one more death stops everything, unless it is
    `optional`. `defaults` are variables that the environment may set otherwise. `forked` rows are Python modules that share the
    libraries of the fork server. `niceness` is how far others go first where processors are short, 0 to 19 as of nice(1).
    """

    name: str
    command: tuple[str, ...]
    port: int | None = None
    needs: tuple[str, ...] = ()
    ready: str = ""
    ready_after: tuple[str, ...] = ()
    once: bool = False
    first: bool = False
    last: bool = False
    restarts: int = 0
    optional: bool = False
    defaults: tuple[tuple[str, str], ...] = ()
    forked: bool = False
    niceness: int = 0


def table(layout: Layout) -> list[Process]:
    """All rows of the table, without servers that are given (COUCH_URL, REDIS_URL)."""
    rows = [*_stores(layout), *_services(layout), *_workers(layout), *_first_start(layout)]
    names = {row.name for row in rows}
    return [replace(row, needs=tuple(name for name in row.needs if name in names)) for row in rows]


def _stores(layout: Layout) -> list[Process]:
    rows = []
    if layout.own_couch:
        port = layout.settings.couch_port
        command = _python(
            "deploy.local.minicouch", "--data", str(layout.state / "minicouch"), "--port", str(port)
        )
        if layout.settings.couch_plan:
            command += ("--plan", layout.settings.couch_plan)
        up = f"http://127.0.0.1:{port}/_up"
        rows.append(Process("minicouch", command, port, ready=up, last=True, restarts=SERVER_RESTARTS))
    if layout.own_redis:
        port = layout.redis_port
        command = (redis_server(), str(layout.redis_conf()))
        listens = f"tcp://127.0.0.1:{port}"
        rows.append(Process("redis", command, port, ready=listens, last=True, restarts=SERVER_RESTARTS))
    prepare = _python("services.prepare")
    rows.append(
        Process("prepare", prepare, needs=("minicouch",), once=True, restarts=TASK_RESTARTS, forked=True)
    )
    return rows


def _services(layout: Layout) -> list[Process]:
    """They import while the database starts, and answer as ready once it is prepared."""
    rows = []
    for name, port in layout.ports.items():
        command = _python("deploy.http_server", "-c", "deploy/gunicorn.conf.py", "-b", f"127.0.0.1:{port}")
        command += (f"services.{name}.app:create_app()",)
        ready = f"http://127.0.0.1:{port}/health/ready"
        rows.append(
            Process(
                name,
                command,
                port,
                ready=ready,
                ready_after=("prepare",),
                restarts=SERVER_RESTARTS,
                forked=True,
            )
        )
    return rows


def _workers(layout: Layout) -> list[Process]:
    celery = _python("deploy.local.celery", "--quiet", "-A", "services.worker.app", "worker")
    alone = ("--without-gossip", "--without-mingle", "--timekeeper")
    threads = ("--pool", "threads", "--concurrency", "4")
    warnings_only = (("LOG_LEVEL", "WARNING"),)  # else two lines for each task, every other second
    worker, follower = (*celery, *threads, *alone), _python("services.worker.follower")
    needs = ("redis", "prepare", "orders")
    return [
        Process(
            "worker",
            worker,
            needs=needs,
            restarts=SERVER_RESTARTS,
            defaults=warnings_only,
            forked=True,
            niceness=BACKGROUND_NICENESS,
        ),
        Process(
            "follower",
            follower,
            needs=needs,
            restarts=SERVER_RESTARTS,
            forked=True,
            niceness=BACKGROUND_NICENESS,
        ),
    ]


def _first_start(layout: Layout) -> list[Process]:
    create_admin, load_shop = _python("services.users", "create-admin"), _python("deploy.local", "seed")
    needs = ("admin", *layout.ports, "follower")
    admin = Process(
        "admin", create_admin, needs=("prepare",), once=True, first=True, restarts=TASK_RESTARTS, forked=True
    )
    seed = Process("seed", load_shop, needs=needs, once=True, first=True, restarts=TASK_RESTARTS, forked=True)
    pictures = Process(
        PICTURES,
        _python("deploy.local", "pictures"),
        needs=("seed",),
        once=True,
        first=True,
        restarts=SERVER_RESTARTS,
        optional=True,
        forked=True,
    )
    return [admin, seed, pictures] if layout.settings.sample_shop else [admin]


def _python(module: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", module, *arguments)
