"""`_approx_count_distinct`."""

import base64
import hashlib
import math
from collections.abc import Iterable, Sequence

from .base import BuiltIn, Row, State


class Distinct(BuiltIn):
    """`_approx_count_distinct`: how many different keys; exact up to 256, beyond that HyperLogLog with 2^11 registers."""

    exact = 256
    bits = 11

    def of_rows(self, rows: Sequence[Row]) -> State:
        hashes = {hashlib.blake2b(row[0], digest_size=7).hexdigest() for row in rows}
        return self._small(hashes)

    def of_states(self, states: Sequence[State]) -> State:
        small = set().union(*(s for s in states if isinstance(s, list)))
        large = [base64.b64decode(s) for s in states if isinstance(s, str)]
        if not large:
            return self._small(small)
        registers = bytearray(map(max, *large, bytes(1 << self.bits)))
        return self._encode(registers, small)

    def join(self, old: State, new: State) -> State:
        return self.of_states([old, new])

    def finalize(self, state: State) -> int:
        if isinstance(state, list):
            return len(state)
        registers = base64.b64decode(state)
        m = len(registers)
        estimate = 0.7213 / (1 + 1.079 / m) * m * m / sum(2.0**-r for r in registers)
        zeros = registers.count(0)
        return round(m * math.log(m / zeros)) if estimate <= 2.5 * m and zeros else round(estimate)

    def _small(self, hashes: set[str]) -> State:
        return (
            sorted(hashes) if len(hashes) <= self.exact else self._encode(bytearray(1 << self.bits), hashes)
        )

    def _encode(self, registers: bytearray, hashes: Iterable[str]) -> str:
        width = 56 - self.bits
        for text in hashes:
            number = int(text, 16)
            rest = number & ((1 << width) - 1)
            slot = number >> width
            registers[slot] = max(registers[slot], width - rest.bit_length() + 1)
        return base64.b64encode(registers).decode()
