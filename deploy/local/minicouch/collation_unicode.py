"""Collation weights beyond ASCII."""

import unicodedata

_ASCII = "\t\n\x0b\x0c\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"


def unicode_key(text: str) -> bytes:
    """The three-level key of a string with characters outside ASCII."""
    primary, secondary, tertiary = bytearray(), bytearray(), bytearray()
    for char in unicodedata.normalize("NFD", text):
        if unicodedata.combining(char):
            secondary += b"\x06" + ord(char).to_bytes(3, "big").replace(b"\x00", b"\x02")
            continue
        low = char.lower()[0]
        rank = _ASCII.find(low)
        if rank >= 0:
            primary.append(3 + 2 * rank)
        else:
            code = ord(low)
            primary += bytes([0xF0, 2 + (code >> 14), 2 + (code >> 7 & 127), 2 + (code & 127)])
        secondary.append(5)
        tertiary.append(5 if char == low else 16)
    levels = [bytes(primary), bytes(secondary).rstrip(b"\x05"), bytes(tertiary).rstrip(b"\x05")]
    return b"\x01".join(levels).rstrip(b"\x01") + b"\x00"
