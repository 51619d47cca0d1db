"""Runs the process table: starts what is ready to start, brings back what dies, and on Ctrl-C stops all."""

import asyncio
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from deploy.local.console import Console, lines, open_pipe
from deploy.local.fork_server import end_with_parent, lower_priority
from deploy.local.forking import Forked, ForkServer
from deploy.local.processes import Process
from deploy.local.ready import answers
from deploy.local.restarts import WINDOW, Restarts
from deploy.local.settings import ROOT

READY_TIMEOUT = 60.0
STABLE_SECONDS = 3.0
"""A process without an address counts as up once it has lived so long."""
STOP_TIMEOUT = 9.0
LAST_STOP_TIMEOUT = 3.0
EXCERPT = 12

Child = asyncio.subprocess.Process | Forked


class Launcher:
    """One run of a table. `run()` returns 0 after Ctrl-C or SIGTERM, 1 when a process cannot live that is not optional.

    A process that dies is started again, as often as its row allows. Not so one that ends by itself before it was ever
    up while nothing else had died: a new start would end in the same way.
    """

    def __init__(
        self,
        rows: Sequence[Process],
        environment: dict[str, str],
        stamp: Callable[[str], Path],
        on_ready: Callable[[], None],
        ready_when: Iterable[str] | None = None,
    ) -> None:
        """`on_ready` is called once the rows named in `ready_when` are ready; by default all."""
        self._rows = rows
        self._environment = environment
        self._stamp = stamp
        self._on_ready = on_ready
        self._ready_when = tuple(row.name for row in rows) if ready_when is None else tuple(ready_when)
        self._console = Console(row.name for row in rows)
        self._ready = {row.name: asyncio.Event() for row in rows}
        self._up: set[str] = set()
        self._deaths = 0
        self._excerpts: dict[str, deque[str]] = {row.name: deque(maxlen=EXCERPT) for row in rows}
        self._fork_server = ForkServer(environment)
        self._children: dict[str, Child] = {}
        self._pumps: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()
        self._failed = False

    async def run(self) -> int:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._interrupted)
        tasks = [asyncio.create_task(self._keep(row)) for row in self._rows]
        tasks.append(asyncio.create_task(self._announce()))
        for task in tasks:
            task.add_done_callback(self._check)
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

    def _check(self, task: asyncio.Task[None]) -> None:
        """A program that cannot be started, for instance one that is not there, ends the run."""
        if not task.cancelled() and (error := task.exception()):
            self._fail(f"{type(error).__name__}: {error}.")

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
        """The life of one row: wait for its needs, start it, and start it again when it dies."""
        for name in row.needs:
            await self._ready[name].wait()
        if row.first and self._stamp(row.name).exists():
            self._ready[row.name].set()
            return
        restarts = Restarts(row.restarts)
        while True:
            deaths_before = self._deaths
            code = await self._live(row)
            if row.once and code == 0:
                self._finish(row)
                return
            never_ready = row.name not in self._up and code >= 0 and self._deaths == deaths_before
            self._deaths += 1
            pause = None if never_ready else restarts.after_death()
            if pause is None:
                await self._give_up(row, code, restarts.recent)
                return
            self._console.say(
                f"{row.name} ended with {_exit_reason(code)}; starting it again in {pause:g} s."
            )
            await asyncio.sleep(pause)

    async def _live(self, row: Process) -> int:
        """One process from its start to its end: the exit code. What it leaves behind is killed with it."""
        child = await self._start(row)
        watch = None if row.once else asyncio.create_task(self._watch(row, child))
        try:
            code = await child.wait()
        finally:
            if watch:
                watch.cancel()
        self._signal({row.name: child}, signal.SIGKILL)
        return code

    async def _give_up(self, row: Process, code: int, deaths: int) -> None:
        """The last word: the end of its output, once that has been read, and how often it ended."""
        await asyncio.sleep(0.1)
        if excerpt := list(self._excerpts[row.name]):
            self._console.say(f"The last lines of {row.name}:")
            for line in excerpt:
                self._console.line(row.name, line)
        times = f" {deaths} times within {WINDOW:.0f} s, at last" if deaths > 1 else ""
        why = f"{row.name} ended{times} with {_exit_reason(code)}."
        if row.optional:
            self._console.say(f"{why} All others run on without it; the next start tries it again.")
        else:
            self._fail(why)

    async def _start(self, row: Process) -> Child:
        """Its output comes through a pipe of ours: asyncio's own would not see an end while a grandchild holds it."""
        output, end = os.pipe()
        try:
            child = await self._spawn(row, end)
        finally:
            os.close(end)
        self._children[row.name] = child
        self._pumps.add(asyncio.create_task(self._pump(row.name, await open_pipe(output))))
        return child

    async def _spawn(self, row: Process, output: int) -> Child:
        if row.forked:
            return await self._fork_server.spawn(row.command, dict(row.defaults), row.niceness, output)
        return await asyncio.create_subprocess_exec(
            *row.command,
            cwd=ROOT,
            env={**dict(row.defaults), **self._environment},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=partial(_enter_child, os.getpid(), row.niceness),
        )

    async def _pump(self, name: str, output: asyncio.StreamReader) -> None:
        async for line in lines(output):
            self._excerpts[name].append(line)
            self._console.line(name, line)

    async def _watch(self, row: Process, child: Child) -> None:
        """Notes that the process is up. One that does not get ready in time is killed: it may be better next time."""
        for name in row.ready_after:
            await self._ready[name].wait()
        if not row.ready:
            self._ready[row.name].set()
            await asyncio.sleep(STABLE_SECONDS)
        elif not await self._answered(row):
            why = f"{row.name} did not answer at {row.ready} within {READY_TIMEOUT:.0f} s."
            if row.name not in self._up:
                self._fail(why)
            else:
                self._console.say(why)
                self._signal({row.name: child}, signal.SIGKILL)
            return
        if row.name in self._up:
            self._console.say(f"{row.name} is up again.")
        self._up.add(row.name)
        self._ready[row.name].set()

    async def _answered(self, row: Process) -> bool:
        end = time.monotonic() + READY_TIMEOUT
        while not await answers(row.ready):
            if time.monotonic() > end:
                return False
            await asyncio.sleep(0.05)
        return True

    def _finish(self, row: Process) -> None:
        if row.first:
            stamp = self._stamp(row.name)
            stamp.parent.mkdir(parents=True, exist_ok=True)
            stamp.touch()
        self._ready[row.name].set()

    async def _stop(self) -> None:
        """Ends the `last` rows after all others; what is slower than its time is killed."""
        for last, within in ((False, STOP_TIMEOUT - LAST_STOP_TIMEOUT), (True, LAST_STOP_TIMEOUT)):
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
        await self._fork_server.close()
        if self._pumps:
            await asyncio.wait(self._pumps, timeout=1)

    def _signal(self, children: Mapping[str, Child], number: int) -> None:
        """SIGTERM goes to the process, SIGKILL to its whole group, also to what outlived it."""
        for child in children.values():
            with suppress(ProcessLookupError):
                if number == signal.SIGKILL:
                    os.killpg(child.pid, number)
                elif child.returncode is None:
                    child.send_signal(number)


def _enter_child(parent: int, niceness: int) -> None:
    end_with_parent(parent)
    lower_priority(niceness)


def _exit_reason(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
