"""The launcher on real processes: who starts when, and that nothing outlives it."""

import asyncio
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deploy.local import launcher
from deploy.local.launcher import Launcher
from deploy.local.processes import Process
from deploy.local.settings import ROOT
from tests.processes import free_port

SERVE = """
import http.server, os, signal, socket, sys, time
def note(word): open(os.environ["DIARY"], "a").write(f"{sys.argv[1]} {word}\\n")
def leave(*_): note("stopped"); os._exit(0)
signal.signal(signal.SIGTERM, leave)
note("started")
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self): self.send_response(200); self.end_headers()
    def log_message(self, *_): pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[2])), Answer).serve_forever()
"""


def script(text: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-c", text, *arguments)


def ended(pid: int, within: float = 30) -> bool:
    """Whether a process that is not our child ended; a signal sent is not yet a signal that arrived."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], within)[0])
    finally:
        os.close(handle)


@pytest.fixture
def diary(tmp_path: Path) -> Path:
    path = tmp_path / "diary"
    path.touch()
    return path


@pytest.fixture
def run(diary: Path, tmp_path: Path):
    """Runs a table; `until` (names of rows) ready, it is stopped with SIGTERM."""

    def run(rows: list[Process], until: tuple[str, ...] = ()) -> int:
        environment = {**os.environ, "DIARY": str(diary)}

        async def whole() -> int:
            def stop() -> None:
                os.kill(os.getpid(), signal.SIGTERM)

            ends = (lambda: None) if not until else stop
            return await Launcher(rows, environment, lambda name: tmp_path / "done" / name, ends, until).run()

        return asyncio.run(whole())

    return run


def server(name: str, port: int, **row) -> Process:
    return Process(name, script(SERVE, name, str(port)), port, ready=f"http://127.0.0.1:{port}/", **row)


def test_rows_start_after_their_needs_and_last_rows_stop_last(run, diary) -> None:
    rows = [
        server("shop", free_port(), needs=("build",)),
        Process(
            "build",
            script("open(__import__('os').environ['DIARY'], 'a').write('built\\n')"),
            needs=("base",),
            once=True,
        ),
        server("base", free_port(), last=True),
    ]
    assert run(rows, until=("shop",)) == 0
    assert diary.read_text().split("\n")[:-1] == [
        "base started", "built", "shop started", "shop stopped", "base stopped"
    ]  # fmt: skip


def test_when_one_dies_all_stop_and_the_dead_one_is_named(run, diary, capfd) -> None:
    rows = [server("shop", free_port()), Process("weak", script("raise SystemExit(3)"), needs=("shop",))]
    assert run(rows) == 1
    assert diary.read_text() == "shop started\nshop stopped\n"
    assert "weak ended with exit code 3." in capfd.readouterr().out


def test_a_killed_process_stops_all(run, diary, capfd) -> None:
    kill = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert run([server("shop", free_port()), Process("weak", script(kill), needs=("shop",))]) == 1
    assert "signal SIGKILL" in capfd.readouterr().out
    assert "shop stopped" in diary.read_text()


def test_what_does_not_listen_to_sigterm_is_killed_with_its_children(
    run, diary, monkeypatch, tmp_path
) -> None:
    monkeypatch.setattr(launcher, "STOP_WITHIN", 1.0)
    monkeypatch.setattr(launcher, "LAST_WITHIN", 0.5)
    child = tmp_path / "child"
    deaf = f"""
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
grandchild = subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"])
open({str(child)!r}, "w").write(str(grandchild.pid))
time.sleep(600)
"""
    written = script(
        "import os, sys, time\nwhile not os.path.getsize(sys.argv[1]): time.sleep(.01)", str(child)
    )
    child.touch()
    rows = [
        Process("deaf", script(deaf)),
        Process("seen", written, once=True),
        server("shop", free_port(), needs=("seen",)),
    ]
    assert run(rows, until=("shop",)) == 0
    assert ended(int(child.read_text()))


def test_output_is_prefixed_and_long_lines_stay_whole(run, capfd) -> None:
    talk = "import sys; print('x' * 200_000); sys.stdout.write('no newline at the end'); sys.exit(1)"
    run([Process("talker", script(talk))])
    out = capfd.readouterr().out.split("\n")
    assert "talker | " + "x" * 200_000 in out
    assert "talker | no newline at the end" in out


def test_a_first_row_runs_until_it_ended_well_once(run, diary) -> None:
    def rows(code: int) -> list[Process]:
        text = f"open(__import__('os').environ['DIARY'], 'a').write('ran\\n'); raise SystemExit({code})"
        return [
            Process("seed", script(text), once=True, first=True),
            server("shop", free_port(), needs=("seed",)),
        ]

    assert run(rows(1)) == 1
    assert run(rows(0), until=("shop",)) == 0
    assert run(rows(0), until=("shop",)) == 0
    assert diary.read_text().count("ran") == 2


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent died")
def test_nothing_outlives_a_launcher_that_is_killed(diary: Path, tmp_path: Path) -> None:
    port = free_port()
    program = f"""
import asyncio, os, pathlib
from deploy.local.launcher import Launcher
from deploy.local.processes import Process
row = Process("shop", {script(SERVE, "shop", str(port))!r}, ready="http://127.0.0.1:{port}/")
ready = lambda: os.kill(os.getpid(), 9)
asyncio.run(Launcher([row], dict(os.environ), pathlib.Path, ready, ["shop"]).run())
"""
    killed = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "DIARY": str(diary)}, cwd=ROOT, timeout=60
    )
    assert killed.returncode == -signal.SIGKILL
    end = time.monotonic() + 20
    while "stopped" not in diary.read_text() and time.monotonic() < end:
        time.sleep(0.05)
    assert diary.read_text() == "shop started\nshop stopped\n"
