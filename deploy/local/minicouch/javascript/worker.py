"""The child process that holds V8: reads framed commands on stdin, answers on stdout. Started by path, imports none of ours.

A frame is three lengths (u32, big endian) and three byte strings: environment key, command, payload; for a command
`setup` the payload is the environment's JSON. An answer is one length and one byte string: `?` when the environment is
unknown here, else what runtime.js's `handle` returned. The first one, to no command, says that the process is ready.
"""

import asyncio
import os
import resource
import struct
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from py_mini_racer import JSOOMException, MiniRacer, init_mini_racer

ISOLATES = 6
HEAP_BYTES = 256 * 1024 * 1024
DATA_BYTES = 1024 * 1024 * 1024
HERE = Path(__file__).parent
RUNTIME = "({})(globalThis, {})".format(
    (HERE / "runtime.js").read_text(), (HERE / "rendering.js").read_text()
)

Environment = tuple[MiniRacer, Callable[[str], None], Callable[[str, str], str]]


def die_with_parent(parent: int) -> None:
    """A function that loops for ever must not outlive a server that was killed."""
    while os.getppid() == parent:
        time.sleep(2)
    os._exit(1)


def read(size: int) -> bytes:
    data = sys.stdin.buffer.read(size)
    if len(data) < size:
        raise EOFError
    return data


def environment(setup: str) -> Environment:
    racer = MiniRacer()
    racer.set_hard_memory_limit(HEAP_BYTES)
    parts = racer.eval(RUNTIME)
    prepare, handle = parts[0], parts[1]
    prepare(setup)
    return racer, prepare, handle


def answer(known: "OrderedDict[bytes, Environment]", key: bytes, command: bytes, payload: bytes) -> bytes:
    if command == b"setup":
        while len(known) >= ISOLATES:
            known.popitem(last=False)[1][0].close()
        known[key] = environment(payload.decode())
        return b"+"
    if key not in known:
        return b"?"
    known.move_to_end(key)
    return known[key][2](command.decode(), payload.decode()).encode("utf-8", "replace")


async def serve() -> None:
    """Answer until stdin ends. Runs inside a loop because V8 calls are quickest from the loop's own thread."""
    known: OrderedDict[bytes, Environment] = OrderedDict()
    send(b"ready")
    while True:
        sizes = struct.unpack(">3I", read(12))
        send(answer(known, *(read(size) for size in sizes)))


def send(reply: bytes) -> None:
    sys.stdout.buffer.write(struct.pack(">I", len(reply)) + reply)
    sys.stdout.buffer.flush()


def main() -> int:
    threading.Thread(target=die_with_parent, args=(os.getppid(),), daemon=True).start()
    resource.setrlimit(resource.RLIMIT_DATA, (DATA_BYTES, DATA_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    init_mini_racer(flags=("--single-threaded", f"--max-heap-size={HEAP_BYTES // 2**20 + 64}"))
    try:
        asyncio.run(serve())
    except (EOFError, KeyboardInterrupt):
        return 0
    except (JSOOMException, MemoryError):
        return 1
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)
