"""`python -m deploy.local.fork_server MODULE ...`: imports the modules once, then forks every process that is asked for.

All processes of the shop use the same modules; forked from here they share the memory of what is imported already, and
none imports it again. Once a module of our own has changed, processes are started from the code as it is then, and share nothing.

On standard input, a socket, comes a JSON line for each process with the file descriptor of its output; on standard output
go JSON lines: `{"pid": 7}` for each start, in order, and `{"ended": 7, "code": 0}` for each end.
"""

import ctypes
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_ATTEMPTS = 5
_LINUX = sys.platform == "linux"
_libc = ctypes.CDLL(None) if _LINUX else None


def main() -> None:
    began = time.time()
    gc.disable()  # what is imported stays: to look for garbage in it only costs time
    for module in sys.argv[1:]:
        importlib.import_module(module)
    gc.freeze()
    gc.enable()
    sources = _own_sources()
    command = _serve(socket.socket(fileno=os.dup(0)))
    if not command:
        return
    if _changed_since(began, sources):
        os.execv(command[0], command)
    sys.argv = command[2:]
    runpy.run_module(command[2], run_name="__main__", alter_sys=True)


def _own_sources() -> list[str]:
    """The files of the modules that are here and no library's."""
    files = [getattr(module, "__file__", None) or "" for module in sys.modules.values()]
    folders = tuple(f"{ROOT}{os.sep}{name}{os.sep}" for name in ("services", "shared", "deploy"))
    return [file for file in files if file.startswith(folders)]


def _changed_since(when: float, files: list[str]) -> bool:
    try:
        return any(os.stat(file).st_mtime > when for file in files)
    except OSError:
        return True  # one is gone


def lower_priority(niceness: int) -> None:
    """Lets others go first where processors are short: 0 to 19, as of nice(1). For the leader of a session, which on Linux may be
    weighed as a whole (sched(7), autogroup) and then not by the niceness of its processes."""
    if not niceness:
        return
    os.nice(niceness)
    for _ in range(_ATTEMPTS):
        try:
            Path("/proc/self/autogroup").write_text(str(niceness))
            return
        except BlockingIOError:  # users may set one every tenth of a second
            time.sleep(0.1)
        except OSError:
            return  # sessions are not weighed here


def end_with_parent(parent: int) -> None:
    """On Linux this process gets SIGTERM when `parent` dies, even by SIGKILL (prctl PR_SET_PDEATHSIG)."""
    if _libc:
        _libc.prctl(1, signal.SIGTERM)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGTERM)


def _serve(requests: socket.socket) -> list[str]:
    """Returns in the processes that are forked, with their command; in this one when the launcher hangs up, with none."""
    woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC) if _LINUX else os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    received = bytearray()
    outputs: list[int] = []
    while True:
        ready, _, _ = select.select([requests.fileno(), woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            _report_ended()
        if requests.fileno() in ready:
            data, descriptors, _, _ = socket.recv_fds(requests, 65536, 16)
            if not data:
                return []
            received += data
            outputs += descriptors
            *lines, rest = received.split(b"\n")
            received = bytearray(rest)
            for line in lines:
                output = outputs.pop(0)
                server, pid = os.getpid(), os.fork()
                if not pid:
                    requests.close()
                    return _enter_child(json.loads(line), output, server, [woken, wake, *outputs])
                os.close(output)
                _reply(pid=pid)


def _report_ended() -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        _reply(ended=pid, code=os.waitstatus_to_exitcode(status))


def _reply(**message: int) -> None:
    os.write(1, json.dumps(message).encode() + b"\n")


def _enter_child(request: dict[str, Any], output: int, server: int, not_mine: list[int]) -> list[str]:
    """In the forked process: leaves everything of the server's behind."""
    os.setsid()
    lower_priority(request.get("niceness", 0))
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    end_with_parent(server)
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    for descriptor in (null, output, *not_mine):
        os.close(descriptor)
    for name, value in request["defaults"].items():
        os.environ.setdefault(name, value)
    command: list[str] = request["command"]
    _set_process_title(command)
    return command


def _set_process_title(command: list[str]) -> None:
    """What ps and top say of this process, as far as there is room for it in the server's own command line."""
    if not _LINUX:
        return
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    start, end = int(fields[45]), int(fields[46])
    text = "\0".join(command).encode()[: end - start - 1]
    ctypes.memset(start, 0, end - start)
    ctypes.memmove(start, text, len(text))


if __name__ == "__main__":
    main()
