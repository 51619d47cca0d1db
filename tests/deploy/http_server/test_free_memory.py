"""When a worker gives back what is free: once whenever requests pause, never between them."""

from deploy.http_server.free_memory import CALM_LOOKS, WORTH_IT, FreeMemory, give_back


class Looks:
    """A worker that is looked at once a second."""

    def __init__(self) -> None:
        self.answered = self.given_back = 0
        self._free_memory = FreeMemory(self._count)

    def pause(self, seconds: int) -> int:
        """How often memory has been given back after so long without a request."""
        for _ in range(seconds):
            self._free_memory.look(self.answered)
        return self.given_back

    def _count(self) -> None:
        self.given_back += 1


def test_memory_is_given_back_once_in_a_pause():
    worker = Looks()
    assert worker.pause(10 * CALM_LOOKS) == 0, "nothing was answered yet"
    worker.answered = WORTH_IT
    assert worker.pause(CALM_LOOKS) == 0
    assert worker.pause(1) == 1
    assert worker.pause(10 * CALM_LOOKS) == 1
    worker.answered += 1
    assert worker.pause(10 * CALM_LOOKS) == 1, "one request leaves nothing"
    worker.answered += WORTH_IT
    assert worker.pause(CALM_LOOKS + 1) == 2


def test_a_busy_worker_keeps_what_it_needs_again():
    worker = Looks()
    for _ in range(100):
        worker.answered += WORTH_IT
        assert worker.pause(CALM_LOOKS) == 0


def test_giving_back_works_on_every_system():
    give_back()
