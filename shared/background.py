"""What a process does behind its answers: one place for its threads and for what goes wrong on them."""

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

log = logging.getLogger(__name__)


class Background:
    """Runs tasks that no answer waits for, on `threads` threads: with one, one after the other. What is left at exit is done before it.

    A task must not wait for another one. Sessions are checked on a thread of their own (`shared.sessions`), since requests wait for that.
    """

    def __init__(self, threads: int = 2) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="background")

    def run(self, task: Callable[..., object], *arguments: Any) -> Future[object]:
        """A task that raises is logged."""
        running = self._executor.submit(task, *arguments)
        running.add_done_callback(_log_failure)
        return running


def _log_failure(done: Future[object]) -> None:
    if done.exception() is not None:
        log.error("a background task failed", exc_info=done.exception())
