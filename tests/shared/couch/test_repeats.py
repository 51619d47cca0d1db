"""What is made of a read again, and what is not: on a real server, with what a block makes counted."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any

import pytest

from shared.couch import (
    Database,
    DatabaseDesign,
    DatabaseUnavailable,
    Made,
    RepeatedReads,
    Server,
    View,
    counting,
    repeats,
)
from shared.couch.deadline import request_deadline
from tests.waiting import eventually

COLOURS = View(
    "by_colour",
    "Which things have this colour?",
    "function (doc) { if (doc.colour) emit(doc.colour, doc.size); }",
    partitioned=False,
)
THINGS = DatabaseDesign("repeated_things", (COLOURS,))


@pytest.fixture(scope="module")
def things(server: Server, prepared: Callable[..., None]) -> Database:
    prepared(THINGS)
    return server.open(THINGS)


class Sizes:
    """The sizes of all things of a colour, as a text that is kept; `begun` and `made` count how often that was begun and made."""

    def __init__(self, things: Database, max_bytes: int = 100_000) -> None:
        self.things, self.begun, self.made = things, 0, 0
        self.kept: RepeatedReads[str] = RepeatedReads(max_bytes)

    def is_repeated(self, colour: str) -> bool:
        """Whether its text is kept by now: that of an index that is behind is not."""
        before = self.made
        self.of(colour)
        return self.made == before

    def of(
        self,
        colour: str,
        *,
        given: tuple[object, ...] = (),
        repeatable: bool = True,
        reads: int = 1,
        same_read: bool = False,
        seconds: float | None = None,
        max_age: float = repeats.MAX_AGE_SECONDS,
    ) -> str:
        def make() -> Made[str]:
            self.begun += 1
            with nullcontext() if seconds is None else request_deadline(seconds):
                return made()

        def made() -> Made[str]:
            for _ in range(reads):
                rows = self.things.across_partitions.view(COLOURS, key=colour, allow_stale=True)
            self.made += 1
            text = ",".join(str(row["value"]) for row in rows)
            return Made(text, len(text), repeatable, same_read, max_age)

        return self.kept.get("sizes", make, given)[0]


@pytest.fixture
def red(things: Database) -> Iterator[Database]:
    things.put({"_id": "things:red", "colour": "red", "size": 1})
    yield things
    things.delete("things:red", things.get("things:red")["_rev"])


def grow(things: Database, size: int) -> None:
    things.put(things.get("things:red") | {"size": size})


def test_the_database_is_asked_again_but_nothing_is_made_again(red: Database) -> None:
    sizes = Sizes(red)
    eventually(lambda: sizes.is_repeated("red"))
    before = sizes.made
    with counting() as tally:
        assert [sizes.of("red") for _ in range(3)] == ["1"] * 3
    assert tally.calls["global"] == 3
    assert sizes.made == before


def asked_once(things: Database) -> Sizes:
    """When the index is there: its first text is kept, with how to ask for it again."""
    first = Sizes(things)
    eventually(lambda: first.is_repeated("red"))
    sizes = Sizes(things)
    sizes.of("red", same_read=True)
    return sizes


def test_the_same_read_is_sent_without_working_it_out(red: Database) -> None:
    sizes = asked_once(red)
    begun = sizes.begun
    with counting() as tally:
        assert [sizes.of("red", same_read=True) for _ in range(3)] == ["1"] * 3
    assert (tally.calls["global"], sizes.begun) == (3, begun)
    sizes.of("red", given=([],), same_read=True)
    assert sizes.begun == begun + 1


def test_the_same_read_is_prepared_once_and_sent_with_the_log_in_of_each_moment(
    red: Database, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes, sdk, logged_in = asked_once(red), server.client.sdk, []
    log_in = sdk.authenticator.authenticate

    def authenticate(request: dict[str, Any]) -> None:
        logged_in.append(request["headers"].pop("Authorization", None))
        log_in(request)

    monkeypatch.setattr(sdk, "prepare_request", None)  # who prepares anything fails
    monkeypatch.setattr(sdk.authenticator, "authenticate", authenticate)
    assert [sizes.of("red", same_read=True) for _ in range(3)] == ["1"] * 3
    assert len(logged_in) == 3


def test_what_the_same_read_answers_now_is_made_with_that_one_call(red: Database) -> None:
    sizes = asked_once(red)
    grow(red, 6)
    eventually(lambda: Sizes(red).of("red") == "6")
    with counting() as tally:
        assert sizes.of("red", same_read=True) == "6"
    assert tally.calls["global"] == 1
    begun = sizes.begun
    assert sizes.of("red", same_read=True) == "6"
    assert sizes.begun == begun


def test_a_read_is_worked_out_again_after_a_while(red: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = asked_once(red)
    monkeypatch.setattr(repeats, "SAME_READ_SECONDS", 0.0)
    begun, made = sizes.begun, sizes.made
    assert [sizes.of("red", same_read=True) for _ in range(3)] == ["1"] * 3
    assert (sizes.begun, sizes.made) == (begun + 3, made)


def test_a_read_with_a_time_limit_of_its_own_is_sent_there_alone(red: Database) -> None:
    asked_once(red)
    sizes = Sizes(red)
    sizes.of("red", same_read=True, seconds=2.0)
    begun, made = sizes.begun, sizes.made
    assert [sizes.of("red", same_read=True, seconds=2.0) for _ in range(3)] == ["1"] * 3
    assert (sizes.begun, sizes.made) == (begun + 3, made)


def test_who_makes_it_meets_the_failure_of_its_read(red: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = asked_once(red)
    begun = sizes.begun

    def fail(*_: object, **__: object) -> None:
        raise DatabaseUnavailable

    monkeypatch.setattr("shared.couch.staleness.StaleReads.ask", fail)
    with pytest.raises(DatabaseUnavailable):
        sizes.of("red", same_read=True)
    assert sizes.begun == begun + 1


def test_another_answer_makes_another_value_with_one_call(red: Database) -> None:
    sizes = Sizes(red)
    for size in (2, 3):
        grow(red, size)
        eventually(lambda size=size: sizes.of("red") == str(size))
    grow(red, 4)
    eventually(lambda: sizes.of("red") == "4")
    with counting() as tally:
        assert sizes.of("red") == "4"
    assert tally.calls["global"] == 1


def test_another_read_under_the_same_question_is_another_value(red: Database) -> None:
    sizes = Sizes(red)
    eventually(lambda: sizes.of("red") == "1")
    assert [sizes.of(colour) for colour in ("red", "blue", "red", "blue")] == ["1", "", "1", ""]


def test_what_depends_on_more_than_the_answer_is_made_each_time(red: Database) -> None:
    rules, others = ["a"], ["a"]
    sizes = Sizes(red)
    for given, made in ((rules, 1), (rules, 1), (others, 2), (others, 2)):
        sizes.of("red", given=(given,))
        assert sizes.made == made, "equal is not the same"
    for options in ({"repeatable": False}, {"reads": 2}):
        sizes = Sizes(red)
        for _ in range(3):
            sizes.of("red", **options)  # type: ignore[arg-type]
        assert sizes.made == 3, options


def test_what_is_old_is_made_again(red: Database) -> None:
    sizes = Sizes(red)
    sizes.of("red", max_age=0.0)
    sizes.of("red", max_age=0.0)
    assert sizes.made == 2


def test_no_more_is_kept_than_there_is_room_for(red: Database) -> None:
    sizes = Sizes(red, max_bytes=3 * repeats.ENTRY_BYTES)
    sizes.of("red")
    for number in range(10):
        sizes.of(f"colour {number}")
    before = sizes.made
    sizes.of("red")
    assert sizes.made == before + 1
    sizes.of("red")
    assert sizes.made == before + 1


def test_threads_keep_out_of_each_others_blocks(red: Database) -> None:
    sizes = Sizes(red)
    eventually(lambda: sizes.of("red") == "1")
    colours = ["red", "blue"] * 50
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(sizes.of, colours)) == ["1", ""] * 50


def test_a_failure_leaves_no_block_behind(red: Database) -> None:
    def fail() -> Made[str]:
        raise KeyError("made nothing")

    with pytest.raises(KeyError):
        Sizes(red).kept.get("sizes", fail)
    assert repeats.current_block() is None
