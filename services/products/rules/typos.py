"""How far words are from each other, letter by letter."""

from typing import Final

TWO_EDITS, LONG = 2, 9
CERTAIN: Final = 9
"""Words of so many letters are alike by chance so seldom that any letter may be a wrong one."""
FIRST_LETTER: Final = 6
"""In words of up to so many letters the first is hardly ever mistyped: a mouse is no house."""
BEGINNING: Final = 2
"""So many letters of a word from that length on are seldom mistyped; of a shorter word all are looked at."""
_VOWELS: Final = "aeiouy"
_SOUNDS: Final = ("ckqx", "szcx", "bp", "dt", "gj", "fvw", "mn", "lr", "iyj")
"""Letters that are mistaken for each other by ear."""
_KEYS: Final = {
    letter: (row, column + shift)
    for row, (letters, shift) in enumerate((("qwertyuiop", 0.0), ("asdfghjkl", 0.25), ("zxcvbnm", 0.75)))
    for column, letter in enumerate(letters)
}
"""Where letters are on a keyboard: row and column."""
_KEYS_APART: Final = 1.1


def one_typo_apart(one: str, other: str) -> bool:
    """Whether one letter more, less, different, or two neighbours swapped turn one word into the other."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    a, b = _differing(one, other)
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[:2] == b[:2][::-1] and a[2:] == b[2:])


def is_slip(one: str, other: str) -> bool:
    """Whether fingers slipped: neighbours swapped, or a letter too many or too few before the last. Another letter, or another
    end, makes another word more often: shift is no shirt, part no party."""
    a, b = _differing(one, other)
    swapped = a[:2] == b[:2][::-1] and a[2:] == b[2:] and len(a) == len(b)
    inner = min(len(a), len(b)) > 0 and abs(len(a) - len(b)) == 1 and (a[1:] == b or a == b[1:])
    return one != other and (swapped or inner)


def nearly_same(one: str, other: str) -> bool:
    """One typo apart, a long word two: what a search server's fuzzy terms match."""
    return one_typo_apart(one, other) or (len(one) >= LONG and one != other and two_edits_apart(one, other))


def is_likely(typed: str, meant: str) -> bool:
    """Whether a slip of fingers or ears, and not chance, tells a word from one that is one edit apart, or two: in a shorter word a letter
    is taken for its neighbour on the keyboard or for one that sounds like it, and the first seldom at all. Speakers are no
    sneakers, and a mouse is no house."""
    if min(len(typed), len(meant)) >= CERTAIN:
        return True
    if min(len(typed), len(meant)) <= FIRST_LETTER and typed[0] != meant[0]:
        return typed[:2] == meant[:2][::-1] or _sound_alike(typed[0], meant[0])
    looked_at = BEGINNING if min(len(typed), len(meant)) >= FIRST_LETTER else len(typed)
    return _unlikely_letters(typed, meant, looked_at) == 0


def _unlikely_letters(typed: str, meant: str, looked_at: int) -> int:
    """How many of the first letters stand for others for no reason, in the alignment of the two that has the fewest edits."""
    rows: list[list[tuple[int, int]]] = [[(n, 0) for n in range(len(meant) + 1)]]
    for i, letter in enumerate(typed, 1):
        row = [(i, 0)]
        for j, its in enumerate(meant, 1):
            edits, unlikely = rows[i - 1][j - 1]
            wrong = letter != its
            odd = wrong and i <= looked_at and not _is_mistakable(letter, its)
            found = [(edits + wrong, unlikely + odd)]
            found += [(edits + 1, unlikely) for edits, unlikely in (rows[i - 1][j], row[j - 1])]
            if i > 1 and j > 1 and letter == meant[j - 2] and typed[i - 2] == its != letter:
                edits, unlikely = rows[i - 2][j - 2]
                found.append((edits + 1, unlikely))
            row.append(min(found))
        rows.append(row)
    return rows[-1][-1][1]


def _is_mistakable(one: str, other: str) -> bool:
    return (one in _VOWELS and other in _VOWELS) or _sound_alike(one, other) or _are_neighbours(one, other)


def _sound_alike(one: str, other: str) -> bool:
    return any(one in letters and other in letters for letters in _SOUNDS)


def _are_neighbours(one: str, other: str) -> bool:
    """On a keyboard; letters that are on none of an English one may be anywhere."""
    if one not in _KEYS or other not in _KEYS:
        return True
    (row, column), (its_row, its_column) = _KEYS[one], _KEYS[other]
    return abs(row - its_row) <= 1 and abs(column - its_column) <= _KEYS_APART


def two_edits_apart(one: str, other: str) -> bool:
    """Whether at most two letters more, less, different or swapped with their neighbour turn one word into the other."""
    if abs(len(one) - len(other)) > TWO_EDITS or len(set(one) ^ set(other)) > 2 * TWO_EDITS:
        return False
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        following = [i]
        for j, its in enumerate(other, 1):
            cost = min(row[j] + 1, following[j - 1] + 1, row[j - 1] + (letter != its))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == its:
                cost = min(cost, before[j - 2] + 1)
            following.append(cost)
        if min(following) > TWO_EDITS:
            return False
        before, row = row, following
    return row[-1] <= TWO_EDITS


def _differing(one: str, other: str) -> tuple[str, str]:
    """The words from the first letter in which they differ."""
    start = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return one[start:], other[start:]
