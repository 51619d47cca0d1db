"""A bulk write and its indexes side by side: how far one may run ahead of the other."""

import threading

from shared.couch import DatabaseUnavailable, IndexCatchUp


def test_nobody_waits_for_the_first_stretch_and_the_third_waits_for_it() -> None:
    indexed, begun = threading.Event(), threading.Semaphore(0)

    def wait() -> None:
        begun.release()
        indexed.wait(30)

    following = IndexCatchUp(wait, 100)
    for _ in range(19):
        following.wrote(10)
    assert begun.acquire(timeout=30)
    assert not begun.acquire(blocking=False), "the second stretch is not whole yet"
    writer = threading.Thread(target=following.wrote, args=(10,))
    writer.start()
    writer.join(0.2)
    assert writer.is_alive(), "two stretches ahead of the indexes it waits"
    indexed.set()
    writer.join(30)
    assert not writer.is_alive()
    assert begun.acquire(timeout=30)


def test_a_server_that_takes_too_long_refuses_no_import() -> None:
    asked = threading.Semaphore(0)

    def wait() -> None:
        asked.release()
        raise DatabaseUnavailable("still building")

    following = IndexCatchUp(wait, 1)
    following.wrote(1)
    following.wrote(1)
    following.catch_up()
    for _ in range(3):
        assert asked.acquire(timeout=30)
