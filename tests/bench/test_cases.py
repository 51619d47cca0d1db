"""What the bench asks a shop for."""

import pytest

from tests.bench.cases import CATEGORIES, PRODUCTS, spread


@pytest.mark.parametrize("most", [CATEGORIES, PRODUCTS])
def test_a_large_shop_is_asked_for_as_many_different_things_as_a_small_one(most: int) -> None:
    for count in (1, most, 10_000, 500_000):
        asked = spread(count, most)
        assert min(count, most) * 0.9 <= len(asked) <= most
        assert asked[-1] >= count * 0.99 - 1, "from one end to the other"
