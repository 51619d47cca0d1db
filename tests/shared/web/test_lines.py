"""Lines of a body: the ones that are there, whatever the pieces they come in, and never more than one in memory."""

import io

from hypothesis import given
from hypothesis import strategies as st

from shared.web import lines_of
from shared.web.lines import _CHUNK

MARK = "\ufeff".encode()


class Dribbling(io.BytesIO):
    """A body that comes a few bytes at a time."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(3)


@given(st.lists(st.binary(max_size=9).map(lambda line: line.replace(b"\n", b""))))
def test_every_line_comes_with_its_number(lines: list[bytes]) -> None:
    body = b"\n".join(lines)
    expected = list(enumerate(body.split(b"\n"), 1))
    if not expected[-1][1]:
        expected.pop()
    if body.startswith(MARK):
        expected[0] = (1, body.split(b"\n")[0].removeprefix(MARK))
    assert list(lines_of(Dribbling(body), 100)) == expected


def test_a_byte_order_mark_is_part_of_no_line() -> None:
    body = MARK + b'{"a":1}\n' + MARK + b"second"
    assert list(lines_of(Dribbling(body), 100)) == [(1, b'{"a":1}'), (2, MARK + b"second")]


@given(st.integers(0, 2 * _CHUNK), st.integers(-2, 2), st.sampled_from([_CHUNK // 2, _CHUNK, 3 * _CHUNK]))
def test_where_the_chunks_end_decides_nothing(before: int, more: int, longest: int) -> None:
    body = b"\n".join([b"a" * before, b"b" * (longest + more), b"c"])
    expected = [
        b"a" * before if before <= longest else None,
        None if more > 0 else b"b" * (longest + more),
        b"c",
    ]
    assert [line for _, line in lines_of(io.BytesIO(body), longest)] == expected


def test_a_line_that_is_too_long_is_counted_and_left_out() -> None:
    body = b"first\n" + b"x" * (3 * _CHUNK) + b"\nthird\n" + b"y" * (3 * _CHUNK)
    assert list(lines_of(io.BytesIO(body), _CHUNK)) == [(1, b"first"), (2, None), (3, b"third"), (4, None)]
