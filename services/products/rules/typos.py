"""How far words are from each other, letter by letter."""

TWO_EDITS, LONG = 2, 8


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
