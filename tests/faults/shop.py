"""The whole shop as processes that can be killed one by one, each started again on its own port with its own data."""

import os
import secrets
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from services.orders.documents import DESIGN, SANDBOX_LEDGER
from services.products.documents import DESIGN as PRODUCTS
from services.users.documents import DESIGN as USERS
from shared.couch import Database, Server
from tests.people import PASSWORD
from tests.processes import (
    Process,
    answers,
    free_port,
    run_forked,
    start_minicouch,
    start_redis,
    start_service,
)
from tests.services.worker.processes import FOLLOWER, WORKER

SERVICES = ("users", "products", "orders")
ADMIN = "admin@example.com"
COUCH_URL, COUCH_COMMAND = os.environ.get("COUCH_URL", ""), os.environ.get("COUCH_COMMAND", "")
"""Another server than a minicouch of the test's own; it is killed too if there is a command that starts it, in the foreground."""
VICTIMS = (
    *(("couch",) if COUCH_COMMAND or not COUCH_URL else ()),
    "redis",
    "users",
    "products",
    "orders",
    "worker",
    "follower",
)
SETTINGS = {
    "AISLE_ENV": "local",
    "ARGON2_MEMORY_KIB": "64",
    "ARGON2_PASSES": "1",
    "MAILS_PER_HOUR": "1000",
    "ACCESS_LOG": "0",
    "ACCESS_TOKEN_SECONDS": "86400",
    "COURIER_DISPATCH_SECONDS": "0.5",
    "COURIER_DELIVERY_SECONDS": "0.5",
    "ATTEMPT_SECONDS": "10",
    "SWEEP_SECONDS": "3",
    "FOLLOWER_SHARDS": "2",
    "SERVICE_SECRET": "a service secret of this test run",
    "SECRET_KEY": "a secret key of this test run",
}


@dataclass
class Copy:
    """What a test has read of a database, and up to where."""

    since: str = "0"
    docs: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass
class BreakableShop:
    """`kill(name)` and `start(name)` for couch, redis, each service, worker and follower."""

    folder: Path
    key_file: Path
    settings: dict[str, str] = field(default_factory=dict)
    running: dict[str, Process] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    copies: dict[str, "Copy"] = field(default_factory=dict)
    plan: str = ""
    """Of Cloudant's, whose limits the database keeps from its next start."""

    def open(self) -> "BreakableShop":
        """Starts everything, with databases and an admin."""
        self.ports = {name: free_port() for name in ("couch", "redis", *SERVICES)}
        password = self.folder / "password"
        password.write_text(PASSWORD)
        self.environment = {
            **SETTINGS,
            **self.settings,
            "COUCH_URL": COUCH_URL or f"http://admin:secret@127.0.0.1:{self.ports['couch']}",
            "DATABASE_PREFIX": f"faults{secrets.token_hex(4)}-" if COUCH_URL else "",
            "REDIS_URL": f"redis://127.0.0.1:{self.ports['redis']}/0",
            "MAIL_DIR": str(self.folder / "mail"),
            "JWT_PRIVATE_KEY_FILE": str(self.key_file),
            "ADMIN_EMAIL": ADMIN,
            "ADMIN_PASSWORD_FILE": str(password),
            **{f"{name.upper()}_URL": f"http://127.0.0.1:{self.ports[name]}" for name in SERVICES},
        }
        if "couch" in VICTIMS:
            self.start("couch")
        self.start("redis")
        self.server().prepare([USERS, PRODUCTS, DESIGN, SANDBOX_LEDGER], progress=lambda line: None)
        for name in (*SERVICES, "worker", "follower"):
            self.start(name)
        command = [sys.executable, "-m", "services.users", "create-admin"]
        run_forked(command, self._log("admin"), self.environment)
        return self

    def url(self, service: str) -> str:
        return self.environment[f"{service.upper()}_URL"]

    def server(self) -> Server:
        return Server(self.environment["COUCH_URL"], prefix=self.environment["DATABASE_PREFIX"], timeout=60)

    def orders(self) -> Database:
        return self.server().open(DESIGN)

    def ledger(self) -> Database:
        return self.server().open(SANDBOX_LEDGER)

    def documents(self, database: Database) -> list[dict[str, Any]]:
        """All of a database. Only what changed since the last call is read, so that looking slows nothing down."""
        copy = self.copies.setdefault(database.name, Copy())
        found = database.changes(copy.since, limit=1_000_000)
        for row in found.rows:
            if row.deleted or not row.doc:
                copy.docs.pop(row.id, None)
            else:
                copy.docs[row.id] = row.doc
        copy.since = found.last_seq
        return list(copy.docs.values())

    def kill(self, name: str) -> None:
        """SIGKILL, to it and its children."""
        self.running.pop(name).kill()

    def start(self, name: str) -> None:
        """Starts it where it was; returns when it answers."""
        if name == "couch" and COUCH_URL:
            started = Process(name, shlex.split(COUCH_COMMAND), self._log(name))
            self.running[name] = started.wait_until(answers(f"{COUCH_URL}/_up"))
        elif name == "couch":
            limits = ("--plan", self.plan) if self.plan else ()
            self.running[name], _ = start_minicouch(self.folder / "data", *limits, port=self.ports[name])
        elif name == "redis":
            self.running[name], _ = start_redis(self.folder, port=self.ports[name])
        elif name in SERVICES:
            self.running[name], _ = start_service(name, self._log(name), self.environment, self.ports[name])
        else:
            command = [sys.executable, *(WORKER if name == "worker" else FOLLOWER)]
            self.running[name] = Process(name, command, self._log(name), self.environment, forked=True)

    def close(self) -> None:
        if COUCH_URL:
            self._drop_databases()
        for process in self.running.values():
            process.ask_to_stop()
        for process in self.running.values():
            process.kill()

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def _drop_databases(self) -> None:
        server = self.server()
        for name in server.client.call("get_all_dbs"):
            if name.startswith(server.prefix):
                server.client.call("delete_database", db=name)
