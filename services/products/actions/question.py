"""What a list of products is asked for, and what it answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from services.products.declarations.product import Product
from services.products.rules import categories

_OF_EVERY_LIST = frozenset({"total", "breadcrumbs", "facets"})


@dataclass(frozen=True)
class Question:
    """What a list of products is asked for. `choices` are the values of facets of which a product must have one; `cursor` is the database's.

    A list in a `currency` holds only what is sold in it; `currency_is_default`: it is the shop's, and was not asked for. `group` is the
    customer group by whose prices it is sorted, filtered and counted.
    """

    category: tuple[str, ...] | None = None
    subcategories: bool = False
    q: str = ""
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    min_price: int | None = None
    max_price: int | None = None
    currency: str | None = None
    currency_is_default: bool = False
    group: str = ""
    language: str = ""
    sort: str | None = None
    facets: tuple[str, ...] = ()
    stale_facets: bool = False
    collapse: bool = False
    analytics: bool = True
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
    def is_by_relevance(self) -> bool:
        return bool(self.q.strip()) and self.sort in (None, "relevance")

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
        """Whether more is asked than words, a category and a currency."""
        return bool(self.choices) or self.min_price is not None or self.max_price is not None

    @property
    def counts_itself(self) -> bool:
        """Whether all that is counted beside it is of this very list, and may be some seconds old."""
        is_whole = not self.filtered and not any(map(self.is_chosen, self.facets))
        return not self.facets or (self.stale_facets and is_whole)

    def is_chosen(self, facet: str) -> bool:
        """Whether a filter is set by this facet, so that its other values are alternatives to it."""
        if facet == "price":
            return self.min_price is not None or self.max_price is not None
        return facet in self.choices or (
            facet == "currency" and self.currency is not None and not self.currency_is_default
        )


@dataclass(frozen=True)
class Listed:
    """A list of products: documents, where the next page begins, and what goes along with them.

    `outdated`: some of it was made before the last change, and is being made again.
    """

    docs: Sequence[Product]
    next: Any
    more: dict[str, Any]
    outdated: bool = False

    @property
    def is_as_asked(self) -> bool:
        """Whether something has the words as they were typed, each of them: then nothing that is learnt changes what is asked for."""
        return bool(self.docs) and self.more.keys() <= _OF_EVERY_LIST


def crumbs(asked: Question) -> dict[str, Any]:
    """The way to the category that was asked for."""
    return {"breadcrumbs": categories.breadcrumbs(asked.category)} if asked.category else {}
