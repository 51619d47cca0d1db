"""The launcher's side of `deploy.local.fork_server`: processes that share the memory of the libraries."""

import asyncio
import json
import os
import signal
import socket
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial

from deploy.local.console import lines, open_pipe
from deploy.local.fork_server import end_with_parent
from deploy.local.settings import ROOT

LIBRARIES = (
    "flask",
    "flask_smorest",
    "werkzeug.middleware.proxy_fix",
    "orjson",
    "redis",
    "pycurl",
    "certifi",
    "jwt",
    "cryptography.fernet",
    "email.headerregistry",
    "babel.support",
    "babel.dates",
    "babel.numbers",
    "wsgiref.simple_server",
    "ibmcloudant.cloudant_v1",
    "gunicorn.app.wsgiapp",
    "gunicorn.workers.gthread",
)
"""What the services import. Not prometheus_client, which looks at the environment when it is imported."""
OWN_MODULES = (
    "deploy.local.preloaded_locale",
    "deploy.local.preloaded_tls",
    "shared.couch",
    "shared.database",
    "shared.email_writer",
    "shared.jobs",
    "shared.redis",
    "shared.web.factory",
)
"""What most of them import of our own, where each has one worker: prometheus_client comes with it."""


class ForkServerEnded(Exception):
    """The fork server died before it started a process."""


class Forked:
    """A process of the fork server, with what the launcher uses of asyncio's own."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = asyncio.Event()

    async def wait(self) -> int:
        await self._ended.wait()
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def ended(self, code: int) -> None:
        self.returncode = code
        self._ended.set()


class ForkServer:
    """Started with the first process, and again when it died: its processes died with it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._requests: socket.socket | None = None
        self._starting: deque[asyncio.Future[Forked]] = deque()
        self._running: dict[int, Forked] = {}
        self._reader: asyncio.Task[None] | None = None

    async def spawn(
        self, command: Sequence[str], defaults: Mapping[str, str], niceness: int, output: int
    ) -> Forked:
        """`command` is `python -m MODULE ...`; `output` is where it writes. Raises ForkServerEnded."""
        if self._requests is None:
            await self._start()
        assert self._requests is not None
        started: asyncio.Future[Forked] = asyncio.get_running_loop().create_future()
        self._starting.append(started)
        request = {"command": command, "defaults": dict(defaults), "niceness": niceness}
        line = json.dumps(request).encode() + b"\n"
        try:
            socket.send_fds(self._requests, [line], [output])
        except OSError as error:
            raise ForkServerEnded("The fork server is gone") from error
        return await started

    async def close(self) -> None:
        """It ends when nobody can ask it any more."""
        if self._requests is not None:
            self._requests.close()
        if self._reader is not None:
            await asyncio.wait([self._reader], timeout=1)

    async def _start(self) -> None:
        self._requests, theirs = socket.socketpair()
        replies, end = os.pipe()
        try:
            await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "deploy.local.fork_server",
                *LIBRARIES,
                *(OWN_MODULES if self._environment.get("WEB_WORKERS", "1") == "1" else ()),
                cwd=ROOT,
                env=dict(self._environment),
                stdin=theirs.fileno(),
                stdout=end,
                start_new_session=True,
                preexec_fn=partial(end_with_parent, os.getpid()),
            )
        finally:
            theirs.close()
            os.close(end)
        self._reader = asyncio.create_task(self._read(await open_pipe(replies), self._requests))

    async def _read(self, replies: asyncio.StreamReader, requests: socket.socket) -> None:
        async for line in lines(replies):
            reply = json.loads(line)
            if "pid" in reply:
                process = self._running[reply["pid"]] = Forked(reply["pid"])
                started = self._starting.popleft()
                if started.cancelled():  # everything was stopped meanwhile, and nobody would end it
                    process.send_signal(signal.SIGKILL)
                else:
                    started.set_result(process)
            else:
                self._running.pop(reply["ended"]).ended(reply["code"])
        requests.close()
        self._requests = None
        for started in self._starting:
            started.set_exception(ForkServerEnded("The fork server ended before it could start a process"))
        for process in self._running.values():
            process.ended(-signal.SIGTERM)
        self._starting.clear()
        self._running.clear()
