"""A crash of the interpreter itself says in the server's log where it was."""

import signal
from pathlib import Path

from tests.processes import start_minicouch


def test_the_log_of_a_crashed_server_shows_its_threads(tmp_path: Path) -> None:
    process, _url = start_minicouch(tmp_path / "data")
    process.popen.send_signal(signal.SIGSEGV)
    assert process.popen.wait(30) == -signal.SIGSEGV
    written = process.log.read_text()
    assert "Fatal Python error: Segmentation fault" in written
    assert "deploy/local/minicouch/__main__.py" in written
