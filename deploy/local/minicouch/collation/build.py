"""Writes collation.bin: the weights of ICU's root collation, read from the ICU library of this machine.

`python -m deploy.local.minicouch.collation.build [path of libicui18n] [its version]`; needed only when the order is to follow another ICU.
"""

import ctypes
import struct
import sys
import unicodedata
import zlib
from pathlib import Path

from .unicode import ASCII, COMMON_THIRD, TABLE, Element

LIBRARY, VERSION = "libicui18n.so.72", "72"
COMMON = 0x0500
UNASSIGNED = 0xFD000000
SPECIAL = {0xFFFD, 0xFFFE, 0xFFFF}
Raw = tuple[int, int, int]


class Icu:
    """The two calls of ICU's C interface that are needed."""

    def __init__(self, library: str, version: str) -> None:
        self._icu = ctypes.CDLL(library)
        self._version = version
        self._status = ctypes.c_int(0)
        self._collator = self._call("ucol_open", ctypes.c_void_p, b"", ctypes.byref(self._status))

    def _call(self, name: str, result: type, *args: object) -> int:
        function = getattr(self._icu, f"{name}_{self._version}")
        function.restype = result
        return function(*args)

    def elements(self, text: str) -> list[Raw]:
        """(primary, secondary, tertiary) of each collation element; zero weights are ignorable."""
        raw = text.encode("utf-16-le")
        buffer = ctypes.create_string_buffer(raw)
        iterator = ctypes.c_void_p(
            self._call(
                "ucol_openElements",
                ctypes.c_void_p,
                ctypes.c_void_p(self._collator),
                buffer,
                len(raw) // 2,
                ctypes.byref(self._status),
            )
        )
        found: list[Raw] = []
        while (half := self._call("ucol_next", ctypes.c_int32, iterator, ctypes.byref(self._status))) != -1:
            half &= 0xFFFFFFFF
            if half & 0xC0 == 0xC0 and found:
                primary, secondary, tertiary = found[-1]
                found[-1] = (primary | half >> 16, secondary | (half >> 8 & 0xFF), tertiary | (half & 0x3F))
            else:
                # The two top bits of a tertiary weight mark the case and do not count.
                found.append((half & 0xFFFF0000, half & 0xFF00, (half & 0x3F) << 8))
        self._call("ucol_closeElements", None, iterator)
        return found


def collect(icu: Icu) -> dict[int, list[Raw]]:
    """The characters ICU knows; of those with a canonical decomposition only what the parts would not give."""
    found: dict[int, list[Raw]] = {}
    composed = []
    for code in range(0x110000):
        char = chr(code)
        if unicodedata.category(char) in ("Co", "Cs") or code in SPECIAL:
            continue
        if unicodedata.normalize("NFD", char) != char:
            composed.append(char)
            continue
        elements = icu.elements(char)
        if not elements or elements[0][0] < UNASSIGNED:
            found[code] = elements
    for char in composed:
        parts = [
            element for part in unicodedata.normalize("NFD", char) for element in found.get(ord(part), [])
        ]
        elements = icu.elements(char)
        if elements != parts:
            found[ord(char)] = elements
    return found


def pack(raw: dict[int, list[Raw]]) -> bytes:
    """Weights replaced by their rank, ASCII primaries by their place among the rest, all compressed."""
    primaries = sorted({p for elements in raw.values() for p, _, _ in elements if p})
    seconds = sorted({s for elements in raw.values() for _, s, _ in elements if s})
    thirds = sorted({t for elements in raw.values() for _, _, t in elements if t})
    if seconds[0] != COMMON or thirds.index(COMMON) != COMMON_THIRD - 1:
        raise SystemExit(
            "This ICU has other weights below the common ones: the encoding of the keys does not fit."
        )
    rank = {primary: n + 1 for n, primary in enumerate(primaries)} | {0: 0}
    second = {weight: n + 1 for n, weight in enumerate(seconds)} | {0: 0}
    third = {weight: n + 1 for n, weight in enumerate(thirds)} | {0: 0}
    anchors = [rank[raw[ord(char)][0][0]] for char in ASCII]
    if anchors != sorted(anchors):
        raise SystemExit("This ICU orders ASCII differently.")
    plain: list[tuple[int, int]] = []
    others: list[tuple[int, list[Element]]] = []
    for code, elements in sorted(raw.items()):
        ranked = [(rank[p], second[s], third[t]) for p, s, t in elements if s or t]
        if len(ranked) == 1 and ranked[0][0] and ranked[0][1:] == (1, COMMON_THIRD):
            plain.append((code, ranked[0][0]))
        else:
            others.append((code, ranked))
    numbers = [len(anchors), *anchors, len(plain)]
    numbers += [code for code, _ in plain] + [primary for _, primary in plain] + [len(others)]
    for code, ranked in others:
        numbers += [code, len(ranked), *(weight for element in ranked for weight in element)]
    return zlib.compress(struct.pack(f"<{len(numbers)}I", *numbers), 9)


def main() -> None:
    library, version = (sys.argv[1:] + [LIBRARY, VERSION])[:2] if len(sys.argv) > 2 else (LIBRARY, VERSION)
    Path(TABLE).write_bytes(pack(collect(Icu(library, version))))


if __name__ == "__main__":
    main()
