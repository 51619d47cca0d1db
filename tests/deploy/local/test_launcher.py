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

from deploy.local import launcher, restarts
from deploy.local.launcher import Launcher
from deploy.local.processes import Process
from deploy.local.settings import ROOT
from tests.processes import free_port

SERVE = """
import http.server, os, signal, socket, sys, time
def note(word): open(os.environ["DIARY"], "a").write(f"{sys.argv[1]} {word}\\n")
def leave(*_): signal.signal(signal.SIGTERM, signal.SIG_IGN); note("stopped"); os._exit(0)
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
        "base started",
        "built",
        "shop started",
        "shop stopped",
        "base stopped",
    ]


def test_a_row_is_not_asked_before_what_it_waits_for_is_ready(run, diary) -> None:
    """It runs meanwhile, and would only answer that it is not ready."""
    asked = SERVE.replace("self.send_response", 'note("asked"); self.send_response')
    port = free_port()
    build = f"""
import os, socket, time
while socket.socket().connect_ex(("127.0.0.1", {port})): time.sleep(0.05)
time.sleep(0.3)
open(os.environ["DIARY"], "a").write("built\\n")
"""
    rows = [
        Process(
            "shop",
            script(asked, "shop", str(port)),
            port,
            ready=f"http://127.0.0.1:{port}/",
            ready_after=("build",),
        ),
        Process("build", script(build), once=True),
    ]
    assert run(rows, until=("shop",)) == 0
    assert diary.read_text().split("\n")[:3] == ["shop started", "built", "shop asked"]


def test_one_that_cannot_start_stops_all_and_is_named(run, diary, capfd) -> None:
    """By its own exit, before it ever was up: another start would end in the same way."""
    weak = Process("weak", script("print('no such file'); raise SystemExit(3)"), needs=("shop",), restarts=5)
    assert run([server("shop", free_port()), weak]) == 1
    assert diary.read_text() == "shop started\nshop stopped\n"
    out = capfd.readouterr().out
    assert "weak ended with exit code 3. Stopping everything." in out
    assert "The last lines of weak:" in out
    assert "starting it again" not in out


def test_a_program_that_is_not_there_stops_all(run, diary, capfd) -> None:
    rows = [server("shop", free_port()), Process("gone", ("/no/such/program",), needs=("shop",), restarts=5)]
    assert run(rows) == 1
    assert "/no/such/program" in capfd.readouterr().out
    assert diary.read_text() == "shop started\nshop stopped\n"


def test_one_that_is_killed_comes_back_and_the_rest_stays(run, diary, capfd) -> None:
    killed = """
import os, signal, sys
path = os.environ["DIARY"]
open(path, "a").write("weak started\\n")
if open(path).read().count("weak") < 3: os.kill(os.getpid(), signal.SIGKILL)
"""
    weak = Process("weak", script(killed), needs=("shop",), once=True, restarts=5)
    assert run([server("shop", free_port()), weak], until=("weak",)) == 0
    assert diary.read_text() == "shop started\n" + "weak started\n" * 3 + "shop stopped\n"
    said = [line for line in capfd.readouterr().out.splitlines() if "again" in line]
    assert said == [
        f"weak ended with signal SIGKILL; starting it again in {pause} s." for pause in ("0.5", "1")
    ]


def test_one_that_dies_again_and_again_stops_all_with_its_last_lines(run, diary, capfd, monkeypatch) -> None:
    monkeypatch.setattr(restarts, "FIRST_DELAY", 0.01)
    kill = "import os, signal; print('out of memory', flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    assert run([server("shop", free_port()), Process("weak", script(kill), needs=("shop",), restarts=3)]) == 1
    out = capfd.readouterr().out
    assert "weak ended 4 times within 60 s, at last with signal SIGKILL. Stopping everything." in out
    assert out.count("starting it again") == 3
    assert out.count("weak | out of memory") == 4 + 4, "as it was written, and once more at the end"
    assert "shop stopped" in diary.read_text()


def test_one_that_is_optional_is_given_up_and_the_others_run_on(run, diary, capfd, monkeypatch) -> None:
    monkeypatch.setattr(restarts, "FIRST_DELAY", 0.01)
    kill = "import os, signal; print('no photo', flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    weak = Process("weak", script(kill), once=True, first=True, restarts=1, optional=True)
    later = Process("later", script("import time; time.sleep(2)"), needs=("shop",), once=True)
    assert run([server("shop", free_port()), weak, later], until=("later",)) == 0
    assert diary.read_text() == "shop started\nshop stopped\n"
    out = capfd.readouterr().out
    assert out.count("starting it again") == 1
    assert "| no photo" in out
    assert "at last with signal SIGKILL. All others run on without it; the next start tries it again." in out


def test_a_row_without_restarts_stops_all_when_it_dies(run, diary, capfd) -> None:
    kill = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert run([server("shop", free_port()), Process("weak", script(kill), needs=("shop",))]) == 1
    assert "weak ended with signal SIGKILL. Stopping everything." in capfd.readouterr().out
    assert "shop stopped" in diary.read_text()


def test_what_a_dead_process_left_behind_gives_its_port_back(run, tmp_path, capfd) -> None:
    """As a gunicorn whose master is killed: its children still listen, and the new one could not."""
    port, first, second = free_port(), tmp_path / "first", tmp_path / "second"
    forking = f"""
import os, signal, socket, time
listener = socket.create_server(("127.0.0.1", {port}))
if not os.path.exists({str(first)!r}):
    open({str(first)!r}, "w").close()
    if os.fork():
        time.sleep(1)
        os.kill(os.getpid(), signal.SIGKILL)
else:
    open({str(second)!r}, "w").close()
while True:
    listener.accept()[0].close()
"""
    wait = "import os, sys, time\nwhile not os.path.exists(sys.argv[1]): time.sleep(.01)"
    rows = [
        Process("weak", script(forking), port, ready=f"tcp://127.0.0.1:{port}", restarts=5),
        Process("seen", script(wait, str(second)), needs=("weak",), once=True),
    ]
    assert run(rows, until=("seen",)) == 0
    out = capfd.readouterr().out
    assert out.count("starting it again") == 1
    assert "Address already in use" not in out


def test_a_failure_while_another_one_was_away_is_forgiven(run, tmp_path, capfd) -> None:
    """The seed that meets a dead service does not end the shop: it is tried again."""
    died, asked = tmp_path / "died", tmp_path / "asked"
    base = f"""
import os, signal, time
if os.path.exists({str(died)!r}): time.sleep(600)
while not os.path.exists({str(asked)!r}): time.sleep(.01)
open({str(died)!r}, "w").close()
os.kill(os.getpid(), signal.SIGKILL)
"""
    seed = f"""
import os, sys, time
if os.path.exists({str(asked)!r}): sys.exit(0)
open({str(asked)!r}, "w").close()
time.sleep(1)
sys.exit(1)
"""
    rows = [
        Process("base", script(base), restarts=1),
        Process("seed", script(seed), once=True, restarts=1),
    ]
    assert run(rows, until=("seed",)) == 0
    assert "seed ended with exit code 1; starting it again" in capfd.readouterr().out


def test_a_stop_during_the_pause_before_a_restart_is_heard(run, diary, capfd, monkeypatch) -> None:
    monkeypatch.setattr(restarts, "FIRST_DELAY", 600.0)
    monkeypatch.setattr(restarts, "MAX_PAUSE", 600.0)
    kill = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    rows = [
        Process("weak", script(kill), restarts=1),
        Process("later", script("import time; time.sleep(2)"), once=True),
        server("shop", free_port()),
    ]
    assert run(rows, until=("later", "shop")) == 0
    assert "weak ended with signal SIGKILL; starting it again in 600 s." in capfd.readouterr().out
    assert "shop stopped" in diary.read_text()


def test_what_does_not_listen_to_sigterm_is_killed_with_its_children(
    run, diary, monkeypatch, tmp_path
) -> None:
    monkeypatch.setattr(launcher, "STOP_TIMEOUT", 1.0)
    monkeypatch.setattr(launcher, "LAST_STOP_TIMEOUT", 0.5)
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
