"""Which lists are asked for in the same way again: those whose words were taken as they were typed."""

from typing import Any, cast

import pytest

from services.products.actions.question import Listed
from services.products.declarations.product import Product

LAMP = cast(Product, {"productid": "lamp"})


@pytest.mark.parametrize("more", [{}, {"total": 1}, {"total": 1, "breadcrumbs": []}])
def test_a_list_of_what_has_all_the_words_is(more: dict[str, Any]) -> None:
    assert Listed([LAMP], None, more).is_as_asked


@pytest.mark.parametrize(
    "said", ["did_you_mean", "showing_results_for", "dropped_words", "described_words", "cannot"]
)
def test_one_whose_words_may_mean_something_else_soon_is_not(said: str) -> None:
    assert not Listed([LAMP], None, {"total": 1, said: ["lampe"]}).is_as_asked


def test_one_of_nothing_is_not() -> None:
    assert not Listed([], None, {"total": 0}).is_as_asked
