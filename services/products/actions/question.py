"""What a list of products is asked for, and what it answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from services.products.rules import categories
from shared.couch import Doc


@dataclass(frozen=True)
class Question:
    """What a list of products is asked for. `cursor` is the database's."""

    category: tuple[str, ...] | None = None
    subcategories: bool = False
    q: str = ""
    brands: tuple[str, ...] = ()
    colours: tuple[str, ...] = ()
    min_price: int | None = None
    max_price: int | None = None
    currency: str | None = None
    sort: str | None = None
    facets: tuple[str, ...] = ()
    stale_facets: bool = False
    limit: int = 20
    cursor: Any = None

    @property
    def one_category(self) -> bool:
        return self.category is not None and not self.subcategories

    @property
    def is_plain(self) -> bool:
        """No words, no filters."""
        return not self.q and not self.filtered

    @property
    def is_plain_search(self) -> bool:
        """Words alone, the most relevant first."""
        return (
            bool(self.q.strip())
            and not self.category
            and not self.filtered
            and self.sort in (None, "relevance")
        )

    @property
    def filtered(self) -> bool:
        prices = (self.min_price, self.max_price, self.currency)
        return bool(self.brands or self.colours or any(each is not None for each in prices))


@dataclass(frozen=True)
class Listed:
    """A list of products: documents, where the next page begins, and what goes along with them."""

    docs: Sequence[Doc]
    next: Any
    more: dict[str, Any]


def crumbs(asked: Question) -> dict[str, Any]:
    """The way to the category that was asked for."""
    return {"breadcrumbs": categories.breadcrumbs(asked.category)} if asked.category else {}
