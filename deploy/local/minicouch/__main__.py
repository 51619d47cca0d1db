"""`python -m deploy.local.minicouch`: start the server."""

import argparse
import faulthandler
import logging
import os
import socket
import sys
import uuid
from functools import partial
from pathlib import Path

import uvicorn

from .building.build_process import BuildProcesses
from .documents.database import Database
from .runtime import memory
from .runtime.config import CLOUDANT_DEFAULTS, DEFAULTS, Config
from .runtime.faults import Faults
from .server.app import Server
from .server.plans import Throttle, parse_plan
from .store import Store

DESCRIPTION = """\
A small CouchDB: speaks the HTTP API of CouchDB 3.5 and of Cloudant (partitioned databases, _find, _search) from one
Python process, with its data in SQLite files under --data. A write is on disk when it is acknowledged."""
EPILOG = """\
Without --admin everybody who can connect is admin, and only a loopback --bind is accepted.
The password may also come from the environment variable MINICOUCH_ADMIN (NAME:PASSWORD).
What is served and what is not: COVERAGE.md beside this module."""
SYSTEM_DATABASES = ("_replicator", "_users")
LOOPBACK = ("127.", "::1", "localhost")


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m deploy.local.minicouch",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--data", required=True, type=Path, metavar="DIR", help="folder for the data, made if absent"
    )
    parser.add_argument(
        "--port", type=int, default=5984, metavar="N", help="port to listen on (default 5984)"
    )
    parser.add_argument(
        "--bind", default="127.0.0.1", metavar="ADDRESS", help="address to listen on (default 127.0.0.1)"
    )
    parser.add_argument(
        "--admin",
        default=os.environ.get("MINICOUCH_ADMIN"),
        metavar="NAME:PASSWORD",
        help="the server admin; then requests need Basic credentials or a cookie from POST /_session",
    )
    parser.add_argument(
        "--faults",
        action="store_true",
        help="serve /_faults, which lets tests ask for latency, 429, 500, dropped connections and a full disk",
    )
    parser.add_argument(
        "--plan",
        type=parse_plan,
        metavar="PLAN",
        help="keep Cloudant's limits: lite, standard, or READS,WRITES,QUERIES a second, and BYTES of an account behind them",
    )
    options = parser.parse_args(argv)
    if options.admin is not None and not all(options.admin.partition(":")):
        parser.error("--admin wants NAME:PASSWORD, neither part empty")
    if options.admin is None and not options.bind.startswith(LOOPBACK):
        parser.error(f"without --admin only a loopback address can be bound, not {options.bind}")
    return options


def server(options: argparse.Namespace) -> Server:
    options.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    builder = BuildProcesses()
    store = Store(options.data, partial(Database, builder=builder))
    for name in SYSTEM_DATABASES:
        if name not in store:
            store.create(name)
    config = Config(options.data / "config.json", DEFAULTS if options.plan is None else CLOUDANT_DEFAULTS)
    if config.get("couchdb", "uuid") is None:
        config.set("couchdb", "uuid", uuid.uuid4().hex)
    name, _, password = (options.admin or "").partition(":")
    host = options.bind if options.bind not in ("0.0.0.0", "::") else "127.0.0.1"
    admins = {name: password} if name else None
    made = Server(store, config, admins, f"http://{host}:{options.port}", builder)
    made.faults = Faults() if options.faults else None
    if options.plan is not None:
        made.throttle = Throttle(options.plan)
    return made


class Process(uvicorn.Server):
    """Tells the application that it ends before connections are waited for, so that feeds do not hold it up."""

    def __init__(self, settings: uvicorn.Config, app: Server) -> None:
        super().__init__(settings)
        self._app = app

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._app.stop()
        await super().shutdown(sockets)


def main() -> None:
    options = arguments()
    faulthandler.enable()  # should the interpreter crash, the log says where
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    sys.setswitchinterval(0.0002)
    memory.limit_arenas()
    memory.look_for_garbage_less_often()
    os.umask(0o077)  # password hashes and people's data are in the files
    try:
        app = server(options)
    except (RuntimeError, OSError) as error:
        sys.exit(f"minicouch: {error}")
    settings = uvicorn.Config(
        app,
        host=options.bind,
        port=options.port,
        loop="uvloop",
        http="httptools",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=300,
        timeout_graceful_shutdown=3,
        h11_max_incomplete_event_size=None,
    )
    Process(settings, app).run()


if __name__ == "__main__":
    main()
