"""View collation: turns any JSON value into bytes whose memcmp order is CouchDB's key order.

null < false < true < numbers < strings (ICU root collation) < arrays < objects. Values that collate equally
(`"a"` and `"a\\u0000"`) have the same key, as in CouchDB: rows then go by document id.
"""

import struct
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from .unicode import unicode_key, version

FORMAT = 1  # grows when the keys below are made differently
END = b"\x00"
NULL, FALSE, TRUE, NUMBER, STRING, ARRAY, OBJECT = (bytes([tag]) for tag in range(2, 9))
HIGHEST = b"\xfe"  # above every value, below the 0xff that closes a prefix range
EMPTY_KEY = NULL

_BIG_INT = 1 << 53
_double = struct.Struct(">d").pack
_POSITIVE = [bytes([0x80 | first]) for first in range(0x80)]
_INVERTED = bytes(range(0xFF, -1, -1))
_REMAINDER = b"\xff"  # follows a double that a larger exact integer was cut to; above every tag
_PRINTABLE = "\t\n\x0b\x0c\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"
_IGNORABLE = bytes(set(range(128)) - set(_PRINTABLE.encode()) - set(range(65, 91)))
# Tertiary weights of the table; the common one is trimmed at the end of a level.
_COMMON, _UPPER, _UPPER_W = 0x05, 0x10, 0x13


def _tables() -> tuple[bytes, bytes]:
    primary, tertiary = bytearray(256), bytearray([_COMMON] * 256)
    for rank, char in enumerate(_PRINTABLE):
        primary[ord(char)] = primary[ord(char.upper())] = 3 + 2 * rank
        if char.isalpha():
            tertiary[ord(char.upper())] = _UPPER_W if char == "w" else _UPPER
    return bytes(primary), bytes(tertiary)


_PRIMARY, _TERTIARY = _tables()


def sort_key(value: Any) -> bytes:
    """The collation key of a JSON value; tuples count as arrays. Raises TypeError for anything else."""
    kind = type(value)
    if kind is str:
        return STRING + string_key(value)
    if kind is int or kind is float:
        return NUMBER + number_key(value)
    if kind is list or kind is tuple:
        return ARRAY + b"".join(map(sort_key, value)) + END
    if value is None:
        return NULL
    if value is False:
        return FALSE
    if value is True:
        return TRUE
    if isinstance(value, Mapping):
        # CouchDB compares the members in the order in which they are stored, it does not sort them.
        return OBJECT + b"".join([STRING + string_key(k) + sort_key(v) for k, v in value.items()]) + END
    raise TypeError(f"no JSON value: {type(value).__name__}")


def number_key(number: int | float) -> bytes:
    """Eight bytes in numeric order; integers beyond 2**53 carry what the double loses behind them."""
    if type(number) is int and not -_BIG_INT <= number <= _BIG_INT:
        return _big_int_key(number)
    packed = _double(number + 0.0)
    return _POSITIVE[packed[0]] + packed[1:] if packed[0] < 0x80 else packed.translate(_INVERTED)


def _big_int_key(number: int) -> bytes:
    """The largest double not above the number, then the exact distance to it."""
    try:
        floor = float(number)
    except OverflowError:
        floor = 1.7976931348623157e308 if number > 0 else float("-inf")
    if floor == float("-inf"):
        # Below every double: more digits sort first, so the distance is complemented.
        width = (-number).bit_length() // 8 + 1
        magnitude = (-number).to_bytes(width, "big")
        return (
            number_key(floor)
            + _REMAINDER
            + (0xFFFF - width).to_bytes(2, "big")
            + bytes(255 - b for b in magnitude)
        )
    if floor > number:
        floor = _previous_double(floor)
    distance = number - int(floor)
    if not distance:
        return number_key(floor)
    width = distance.bit_length() // 8 + 1
    return number_key(floor) + _REMAINDER + width.to_bytes(2, "big") + distance.to_bytes(width, "big")


def _previous_double(number: float) -> float:
    (bits,) = struct.unpack(">q", struct.pack(">d", number))
    (lower,) = struct.unpack(">d", struct.pack(">q", bits - 1 if number > 0 else bits + 1))
    return lower


@lru_cache(maxsize=4096)
def string_key(text: str) -> bytes:
    """Primary, secondary and tertiary weights with a terminator; empty levels at the end are left out."""
    if not text.isascii():
        return unicode_key(text)
    raw = text.encode()
    primary = raw.translate(_PRIMARY, _IGNORABLE)
    tertiary = raw.translate(_TERTIARY, _IGNORABLE).rstrip(b"\x05")
    return primary + b"\x01\x01" + tertiary + END if tertiary else primary + END


def stamp() -> str:
    """Names the order of the keys: an index that was built under another one must be built again."""
    return f"{FORMAT}-{version():08x}"


def compare(left: Any, right: Any) -> int:
    """-1, 0 or 1 in view order."""
    a, b = sort_key(left), sort_key(right)
    return (a > b) - (a < b)
