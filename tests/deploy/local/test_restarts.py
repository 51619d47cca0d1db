"""The pauses between restarts, on a clock of the test's own."""

from deploy.local.restarts import MAX_PAUSE, WINDOW, Restarts


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_pauses_double_up_to_a_limit_and_end_after_too_many_deaths() -> None:
    restarts = Restarts(6, Clock())
    assert [restarts.after_death() for _ in range(7)] == [0.5, 1.0, 2.0, 4.0, 8.0, MAX_PAUSE, None]


def test_deaths_of_long_ago_are_forgotten() -> None:
    clock = Clock()
    restarts = Restarts(1, clock)
    for _ in range(5):
        assert restarts.after_death() == 0.5
        clock.now += WINDOW
    clock.now -= 1
    assert restarts.after_death() is None
    assert restarts.recent == 2


def test_without_restarts_the_first_death_is_the_last() -> None:
    assert Restarts(0, Clock()).after_death() is None
