"""Collation weights beyond ASCII, from collation.bin: ICU 72's root collation, which build.py reads off ICU.

ICU's data are under the Unicode License V3.
"""

import struct
import unicodedata
import zlib
from array import array
from bisect import bisect_left, bisect_right
from functools import cache, lru_cache
from pathlib import Path

TABLE = Path(__file__).with_name("collation.bin")
ASCII = "\t\n\x0b\x0c\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"
COMMON_THIRD = 2  # small kana are below it
Element = tuple[int, int, int]  # ranks of the primary, secondary (1: common) and tertiary weight; 0 is none

_FIRST_LEAD = 3  # ASCII primaries are 3, 5, 7..; what lies between two of them begins with the even number
_DIGITS = 254
_UNKNOWN_LEAD = 0xF0
_SPECIAL = {0xFFFE: b"\x02", 0xFFFD: b"\xfc", 0xFFFF: b"\xfd"}  # lowest of all, and the two highest
_COMMON_BYTE = b"\x05"
# Vowels that are written before the consonant they follow in the order: Thai and Lao.
_PREPOSED = frozenset(map(chr, (*range(0x0E40, 0x0E45), *range(0x0EC0, 0x0EC5))))
_CONSONANTS = (
    frozenset(map(chr, range(0x0E01, 0x0E2F))),
    frozenset(map(chr, (*range(0x0E81, 0x0EAF), *range(0x0EDC, 0x0EE0)))),
)
_LAST_THAI = chr(0x0E7F)


class _Table:
    """Characters with one plain element in two arrays, the others in a dictionary."""

    def __init__(self, packed: bytes) -> None:
        raw = zlib.decompress(packed)
        numbers = array("I", struct.unpack(f"<{len(raw) // 4}I", raw))
        count = numbers[0]
        self.anchors = numbers[1 : count + 1]
        at = count + 1
        plain = numbers[at]
        self.codes = numbers[at + 1 : at + 1 + plain]
        self.ranks = numbers[at + 1 + plain : at + 1 + 2 * plain]
        self.others: dict[int, array[int]] = {}
        at += 2 + 2 * plain
        while at < len(numbers):
            code, size = numbers[at], numbers[at + 1]
            self.others[code] = numbers[at + 2 : at + 2 + 3 * size]
            at += 2 + 3 * size
        small = (found for found in self.others.values() if found[2::3].count(COMMON_THIRD - 1))
        self.with_small = {found[n] for found in small for n in range(0, len(found), 3)}

    def elements(self, char: str) -> list[Element] | None:
        """None for a character that ICU does not know."""
        code = ord(char)
        found = self.others.get(code)
        if found is not None:
            return [(found[n], found[n + 1], found[n + 2]) for n in range(0, len(found), 3)]
        place = bisect_left(self.codes, code)
        if place < len(self.codes) and self.codes[place] == code:
            return [(self.ranks[place], 1, COMMON_THIRD)]
        return None

    def primary(self, rank: int) -> bytes:
        place = bisect_right(self.anchors, rank) - 1
        if place >= 0 and self.anchors[place] == rank:
            return bytes([_FIRST_LEAD + 2 * place])
        beyond = rank - (self.anchors[place] if place >= 0 else 0)
        high, low = divmod(beyond, _DIGITS)
        return bytes([_FIRST_LEAD + 1 + 2 * place, 2 + high // _DIGITS, 2 + high % _DIGITS, 2 + low])


@cache
def _table() -> _Table:
    return _Table(TABLE.read_bytes())


@cache
def version() -> int:
    """Changes with the table: keys that were stored under another one are in another order."""
    return zlib.crc32(TABLE.read_bytes())


@cache
def _secondary(rank: int) -> bytes:
    return _COMMON_BYTE if rank == 1 else bytes([6 + rank // 240, 6 + rank % 240])


def _unknown(code: int) -> bytes:
    """Unassigned and private characters come last, by their code."""
    if code in _SPECIAL:
        return _SPECIAL[code]
    return bytes([_UNKNOWN_LEAD, 2 + (code >> 14), 2 + (code >> 7 & 127), 2 + (code & 127)])


@lru_cache(maxsize=8192)
def _weights(char: str) -> tuple[bytes, bytes, bytes, bool]:
    """(primary, secondary, tertiary weights, may others of its primary be below the common tertiary one).

    Characters are decomposed one by one, so that marks keep their order as in ICU without normalisation.
    """
    table = _table()
    known = table.elements(char) is not None
    primary, secondary, tertiary, small = b"", b"", b"", False
    for part in char if known else unicodedata.normalize("NFD", char):
        elements = table.elements(part)
        if elements is None:
            primary += _unknown(ord(part))
            elements = [(0, 1, COMMON_THIRD)]
        for first, second, third in elements:
            primary += table.primary(first) if first else b""
            secondary += _secondary(second) if second else b""
            tertiary += bytes([3 + third]) if third else b""
            small = small or first in table.with_small
    return primary, secondary, tertiary, small


def _in_order(text: str) -> str:
    """Preposed vowels after their consonant."""
    if _PREPOSED.isdisjoint(text):
        return text
    chars = list(text)
    for n in range(len(chars) - 1):
        if chars[n] in _PREPOSED and chars[n + 1] in _CONSONANTS[chars[n] > _LAST_THAI]:
            chars[n], chars[n + 1] = chars[n + 1], chars[n]
    return "".join(chars)


def unicode_key(text: str) -> bytes:
    """The three-level key of a string with characters outside ASCII."""
    weights = [_weights(char) for char in _in_order(text)]
    primary = b"".join([found[0] for found in weights])
    tertiary = b"".join([found[2] for found in weights])
    # Only common weights are left out at the end; and where a weight may be below them, they are not.
    small = next((n for n in range(len(weights), 0, -1) if weights[n - 1][3]), 0)
    kept = sum(len(found[2]) for found in weights[:small])
    secondary = b"".join([found[1] for found in weights]).rstrip(_COMMON_BYTE)
    tertiary = tertiary[:kept] + tertiary[kept:].rstrip(_COMMON_BYTE)
    return b"\x01".join((primary, secondary, tertiary)).rstrip(b"\x01") + b"\x00"
