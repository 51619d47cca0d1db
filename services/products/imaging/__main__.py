"""`python -m services.products.imaging 8`: converts the pictures that come on standard input, one after the other, each in as many
seconds of the processor at most: a file made to take longer ends the process (SIGPROF).

Each message is framed by its length in four bytes. The answer is a message of JSON, then one for each file that it names. With
nothing to do for a while it ends, and its memory is free.
"""

import io
import json
import resource
import select
import signal
import sys
from typing import BinaryIO

from services.products.imaging.convert import convert
from services.products.imaging.errors import TooManyPixels
from services.products.imaging.frames import read_frame, write_frame

MEMORY_BYTES = 320 * 1024**2
"""Of addresses, those of the libraries among them: 24 million pixels with transparency take 260 MiB."""
IDLE_SECONDS = 10.0


def main() -> None:
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    seconds = float(sys.argv[1])
    requests, answers = io.FileIO(0), sys.stdout.buffer
    while select.select([requests], [], [], IDLE_SECONDS)[0]:
        content = read_frame(requests)
        if content is None:
            return
        signal.setitimer(signal.ITIMER_PROF, seconds)
        _answer(content, answers)
        signal.setitimer(signal.ITIMER_PROF, 0)
        answers.flush()


def _answer(content: bytes, answers: BinaryIO) -> None:
    """A decoder may raise anything for a file that was made to break it: whatever it is, this file is refused."""
    try:
        width, height, files = convert(content)
    except (TooManyPixels, MemoryError):
        write_frame(answers, json.dumps({"problem": "too_many_pixels"}).encode())
        return
    except Exception as error:
        write_frame(answers, json.dumps({"problem": "unreadable", "detail": repr(error)[:300]}).encode())
        return
    described = [{"name": each.name, "content_type": each.content_type} for each in files]
    write_frame(answers, json.dumps({"width": width, "height": height, "files": described}).encode())
    for each in files:
        write_frame(answers, each.content)


main()
