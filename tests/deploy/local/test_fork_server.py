"""Processes of the fork server, started by the launcher as `make run` starts them."""

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from deploy.local.console import open_pipe
from deploy.local.forking import ForkServer
from deploy.local.launcher import Launcher
from deploy.local.processes import Process
from deploy.local.settings import ROOT

MODULE = """
import os, sys, time
print(f"{__name__} of {os.environ['GREETED']}, {os.environ['LOG_LEVEL']}, with {sys.argv[1:]}")
print("libraries are here:", "ibmcloudant" in sys.modules, "and what services share of our own:", "shared.web" in sys.modules)
print("leads its session:", os.getsid(0) == os.getpid(), "and reads nothing:", sys.stdin.read() == "")
print("warned", file=sys.stderr)
if "shown" in sys.argv: print("shown as", open("/proc/self/cmdline").read().rstrip("\\0").split("\\0")[1:])
if "nice" in sys.argv: print("niceness", os.nice(0), "of its session", open("/proc/self/autogroup").read().split()[-1])
if "kill" in sys.argv: os.kill(os.getpid(), 9)
if "stay" in sys.argv: time.sleep(600)
sys.exit(3 if "fail" in sys.argv else 0)
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Runs rows of `greeting`, a module that says where it is; ready, they are stopped with SIGTERM."""
    (tmp_path / "greeting.py").write_text(MODULE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    environment = {**os.environ, "GREETED": "ada", "PYTHONUNBUFFERED": "1"}

    def run(*rows: Process, until: tuple[str, ...] = ()) -> int:
        async def whole() -> int:
            def ready() -> None:
                if until:
                    os.kill(os.getpid(), signal.SIGTERM)

            return await Launcher(
                rows, environment, lambda name: tmp_path / "done" / name, ready, until
            ).run()

        return asyncio.run(whole())

    return run


def row(name: str, *arguments: str, **more: object) -> Process:
    command = (sys.executable, "-m", "greeting", *arguments)
    return Process(name, command, forked=True, defaults=(("LOG_LEVEL", "calm"), ("GREETED", "bob")), **more)  # type: ignore[arg-type]


def test_a_forked_process_is_like_one_that_was_started(run, capfd) -> None:
    assert run(row("greeter", "a b", once=True), until=("greeter",)) == 0
    out = capfd.readouterr().out.splitlines()
    assert out[:4] == [
        "greeter | __main__ of ada, calm, with ['a b']",
        "greeter | libraries are here: True and what services share of our own: True",
        "greeter | leads its session: True and reads nothing: True",
        "greeter | warned",
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere its command line is the fork server's")
def test_ps_shows_its_command(run, capfd) -> None:
    assert run(row("greeter", "shown", once=True), until=("greeter",)) == 0
    assert "shown as ['-m', 'greeting', 'shown']" in capfd.readouterr().out


@pytest.mark.skipif(
    not Path("/proc/self/autogroup").exists(), reason="this kernel does not weigh sessions as a whole"
)
@pytest.mark.parametrize("forked", [True, False])
def test_background_work_lets_others_go_first(run, capfd, forked: bool) -> None:
    """Also where the scheduler weighs sessions: each process leads its own, in which its niceness alone would mean nothing."""
    background = replace(row("background", "nice", once=True, niceness=7), forked=forked)
    assert run(row("ordinary", "nice", once=True), background, until=("ordinary", "background")) == 0
    out, own = capfd.readouterr().out, os.nice(0)
    assert re.search(rf"ordinary +\| niceness {own} of its session 0\n", out)
    assert re.search(rf"background +\| niceness {own + 7} of its session 7\n", out)


def test_how_it_ended_is_known(run, capfd) -> None:
    assert run(row("failing", "fail", once=True)) == 1
    assert "failing ended with exit code 3. Stopping everything." in capfd.readouterr().out
    assert run(row("killed", "kill", once=True)) == 1
    assert "killed ended with signal SIGKILL. Stopping everything." in capfd.readouterr().out


def test_what_starts_while_everything_is_stopped_is_ended_and_holds_nobody_up(tmp_path) -> None:
    (tmp_path / "greeting.py").write_text(MODULE)
    environment = {**os.environ, "GREETED": "ada", "LOG_LEVEL": "calm", "PYTHONPATH": str(tmp_path)}
    command = (sys.executable, "-m", "greeting", "stay")

    async def whole() -> int:
        server = ForkServer(environment)
        output, end = os.pipe()
        running = await server.spawn(command, {}, 0, sys.__stdout__.fileno())
        starting = asyncio.create_task(server.spawn(command, {}, 0, end))
        await asyncio.sleep(0)
        starting.cancel()
        os.close(end)
        await asyncio.wait_for((await open_pipe(output)).read(), 30)
        running.send_signal(signal.SIGTERM)
        code = await asyncio.wait_for(running.wait(), 30)
        await server.close()
        return code

    assert asyncio.run(whole()) == -signal.SIGTERM


def test_a_module_that_is_not_there_stops_all(run, capfd) -> None:
    missing = Process("gone", (sys.executable, "-m", "no_such_module"), forked=True)
    assert run(row("staying", "stay"), missing) == 1
    out = capfd.readouterr().out
    assert "No module named no_such_module" in out
    assert "gone ended with exit code 1. Stopping everything." in out


def test_a_fork_server_that_cannot_start_stops_all(run, capfd, monkeypatch) -> None:
    monkeypatch.setattr("deploy.local.forking.LIBRARIES", ("no_such_library",))
    assert run(row("greeter", once=True, restarts=2)) == 1
    assert re.search("The fork server (ended|is gone).* Stopping everything", capfd.readouterr().out)


def test_many_at_once_are_told_apart(run, capfd) -> None:
    rows = [row(f"row{number}", f"number {number}", once=True) for number in range(12)]
    assert run(*rows, until=tuple(each.name for each in rows)) == 0
    out = capfd.readouterr().out
    for number in range(12):
        assert (
            f"row{number:<{2 if number < 10 else 1}} | __main__ of ada, calm, with ['number {number}']" in out
        )


def test_once_our_own_code_has_changed_processes_run_it_as_it_is(tmp_path: Path) -> None:
    """The fork server of a copy of the repository, in which a module that it has loaded is changed."""
    (tmp_path / "deploy" / "local").mkdir(parents=True)
    shutil.copy(ROOT / "deploy/local/fork_server.py", tmp_path / "deploy/local")
    (tmp_path / "shared").mkdir()
    module = tmp_path / "shared" / "greeting.py"
    module.write_text("WORDS = 'as it was'\n")
    (tmp_path / "greet.py").write_text("import shared.greeting\nprint(shared.greeting.WORDS, end='')\n")
    requests, theirs = socket.socketpair()
    command = [sys.executable, "-m", "deploy.local.fork_server", "shared.greeting"]
    with (
        requests,
        theirs,
        subprocess.Popen(command, cwd=tmp_path, stdin=theirs, stdout=subprocess.PIPE) as server,
    ):
        assert server.stdout is not None
        said = []
        for words in ("as it was", "as it is"):
            if words == "as it is":
                module.write_text("WORDS = 'as it is'\n")
                os.utime(module, (time.time() + 10,) * 2)
            output, end = os.pipe()
            line = {"command": [sys.executable, "-m", "greet"], "defaults": {}}
            socket.send_fds(requests, [json.dumps(line).encode() + b"\n"], [end])
            os.close(end)
            with os.fdopen(output) as pipe:
                said.append(pipe.read())
        requests.close()
    assert said == ["as it was", "as it is"]
