"""How many parcels an order goes in, and what each weighs: pieces are not parted, and what weighs nothing goes along."""

from collections.abc import Iterable
from typing import Final

MAX_PARCELS: Final = 20
"""Beyond it is freight, and a carrier would be asked too often for a quote."""


def weights_of_parcels(pieces: Iterable[tuple[int, int]], heaviest: int | None) -> tuple[int, ...] | None:
    """What each parcel weighs in grams, the first packed first; `pieces`: (grams, how many), in any order.

    One parcel where none is too heavy (`heaviest` None: any weight). Else each piece, the heaviest ones first, goes into the first parcel that
    has room for it. None where a piece is heavier than a parcel may be, or MAX_PARCELS do not hold them.
    """
    known = sorted(pieces, reverse=True)
    whole = sum(grams * quantity for grams, quantity in known)
    if heaviest is None or whole <= heaviest:
        return (whole,)
    parcels: list[int] = []
    for grams, quantity in known:
        if grams > heaviest:
            return None
        for place, weight in enumerate(parcels):
            fitting = min(quantity, (heaviest - weight) // grams) if grams else quantity
            parcels[place] += fitting * grams
            quantity -= fitting
        while quantity:
            if len(parcels) == MAX_PARCELS:
                return None
            fitting = min(quantity, heaviest // grams)
            parcels.append(fitting * grams)
            quantity -= fitting
    return tuple(parcels)
