"""Runs the process table: starts what is ready to start, and when one dies or Ctrl-C comes, stops all."""

import asyncio
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from deploy.local.console import Console, lines
from deploy.local.processes import Process
from deploy.local.ready import answers
from deploy.local.settings import ROOT

READY_WITHIN = 60.0
STOP_WITHIN = 9.0
LAST_WITHIN = 3.0

_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


class Launcher:
    """One run of a table. `run()` returns 0 after Ctrl-C or SIGTERM, 1 when a process failed."""

    def __init__(
        self,
        rows: Sequence[Process],
        environment: dict[str, str],
        stamp: Callable[[str], Path],
        on_ready: Callable[[], None],
        ready_when: Iterable[str],
    ) -> None:
        self._rows = rows
        self._environment = environment
        self._stamp = stamp
        self._on_ready = on_ready
        self._ready_when = tuple(ready_when)
        self._console = Console(row.name for row in rows)
        self._ready = {row.name: asyncio.Event() for row in rows}
        self._children: dict[str, asyncio.subprocess.Process] = {}
        self._pumps: set[asyncio.Task] = set()
        self._stopping = asyncio.Event()
        self._failed = False

    async def run(self) -> int:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._interrupted)
        tasks = [asyncio.create_task(self._keep(row)) for row in self._rows]
        tasks.append(asyncio.create_task(self._announce()))
        await self._stopping.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._stop()
        return 1 if self._failed else 0

    def _interrupted(self) -> None:
        if self._stopping.is_set():
            self._signal(self._children, signal.SIGKILL)
        else:
            self._console.say("Stopping.")
        self._stopping.set()

    def _fail(self, why: str) -> None:
        if not self._stopping.is_set():
            self._console.say(f"{why} Stopping everything.")
            self._failed = True
            self._stopping.set()

    async def _announce(self) -> None:
        for name in self._ready_when:
            await self._ready[name].wait()
        self._on_ready()

    async def _keep(self, row: Process) -> None:
        """The life of one row: wait for its needs, start it, see it ready, notice its end."""
        for name in row.needs:
            await self._ready[name].wait()
        if row.first and self._stamp(row.name).exists():
            self._ready[row.name].set()
            return
        child = await self._start(row)
        if not row.once:
            watch = asyncio.create_task(self._watch(row))
        code = await child.wait()
        if row.once and code == 0:
            self._finish(row)
            return
        if not row.once:
            watch.cancel()
        self._fail(f"{row.name} ended with {_meaning(code)}.")

    async def _start(self, row: Process) -> asyncio.subprocess.Process:
        child = await asyncio.create_subprocess_exec(
            *row.command,
            cwd=ROOT,
            env={**dict(row.defaults), **self._environment},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_end_with_parent if _libc else None,
        )
        self._children[row.name] = child
        self._pumps.add(asyncio.create_task(self._pump(row.name, child.stdout)))
        return child

    async def _pump(self, name: str, output: asyncio.StreamReader) -> None:
        async for line in lines(output):
            self._console.line(name, line)

    async def _watch(self, row: Process) -> None:
        end = time.monotonic() + READY_WITHIN
        while row.ready and not await answers(row.ready):
            if time.monotonic() > end:
                self._fail(f"{row.name} did not answer at {row.ready} within {READY_WITHIN:.0f} s.")
                return
            await asyncio.sleep(0.05)
        self._ready[row.name].set()

    def _finish(self, row: Process) -> None:
        if row.first:
            stamp = self._stamp(row.name)
            stamp.parent.mkdir(parents=True, exist_ok=True)
            stamp.touch()
        self._ready[row.name].set()

    async def _stop(self) -> None:
        """Ends the `last` rows after all others; what is slower than its time is killed."""
        for last, within in ((False, STOP_WITHIN - LAST_WITHIN), (True, LAST_WITHIN)):
            names = [row.name for row in self._rows if row.last == last and row.name in self._children]
            children = {name: self._children[name] for name in names}
            self._signal(children, signal.SIGTERM)
            waits = [asyncio.create_task(child.wait()) for child in children.values()]
            if waits:
                await asyncio.wait(waits, timeout=within)
            for name in [name for name, child in children.items() if child.returncode is None]:
                self._console.say(f"{name} did not stop in time; killed.")
            self._signal(children, signal.SIGKILL)
            await asyncio.gather(*waits)
        if self._pumps:
            await asyncio.wait(self._pumps, timeout=1)

    def _signal(self, children: dict[str, asyncio.subprocess.Process], number: int) -> None:
        """SIGTERM goes to the process, SIGKILL to its whole group, also to what outlived it."""
        for child in children.values():
            try:
                if number == signal.SIGKILL:
                    os.killpg(child.pid, number)
                elif child.returncode is None:
                    child.send_signal(number)
            except ProcessLookupError:
                continue


def _end_with_parent() -> None:
    """On Linux a process gets SIGTERM when the launcher dies, even by SIGKILL (prctl PR_SET_PDEATHSIG)."""
    _libc.prctl(1, signal.SIGTERM)


def _meaning(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
