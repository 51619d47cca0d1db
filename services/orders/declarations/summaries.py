"""What the desk lists of an order: the one document of an order that is written anew."""

from typing import NotRequired, TypedDict

from shared.couch import StoredDocument
from shared.money import Money


class MarginOfDay(TypedDict):
    """What was sold on a `date` of an order's goods, less what was given and paid back: pieces, and without tax what they were sold for; of
    those whose cost is known the same, and that `cost`; what return `labels` cost. What is nothing is left out."""

    date: str
    units: NotRequired[int]
    known_units: NotRequired[int]
    sales: NotRequired[int]
    known_sales: NotRequired[int]
    cost: NotRequired[int]
    labels: NotRequired[int]


class OrderSummary(StoredDocument):
    """A projection of an order's other documents, which anybody can rebuild from them.

    `events`: how many of them it was made from, so that one that is behind is found by a sum. `waiting`: how many pieces wait for
    goods. `label_work`: a label of a parcel or a return is to be bought or given back. `dates`: when each status was last reached. `first`: of a paid order, whether it is its customer's first; `revenue`: what was paid
    without gift cards that it bought. `margin`: see `rules.margin`. `products`: productids and SKUs. `words`: what the customer's name and e-mail are found by,
    and of a sale at a `stall` that.
    """

    orderid: str
    number: str | None
    userid: str | None
    placed: str
    currency: str
    status: str
    refunded: str
    returned: str
    open_returns: int
    waiting: NotRequired[int]
    label_work: NotRequired[bool]
    awaiting_dispatch: bool
    total: Money
    paid: int
    repaid: int
    units: int
    discounts: int
    dates: dict[str, str]
    name: str
    email: str
    products: list[str]
    words: list[str]
    events: int
    first: NotRequired[bool]
    revenue: NotRequired[int]
    margin: NotRequired[list[MarginOfDay]]
    erased: NotRequired[str]
    stall: NotRequired[str]


class FirstOrder(StoredDocument):
    """Which order of a customer was the first, and when it was paid. `displaced`: orders that were held to be it before, whose summaries may
    not know yet."""

    orderid: str
    paid: str
    displaced: NotRequired[list[str]]
