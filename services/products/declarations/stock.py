"""Documents of the stock ledger."""

from typing import NotRequired

from shared.couch import StoredDocument


class Movement(StoredDocument):
    """One change of a stock, in the numbered slot of its chain; the last of a chain may say where it goes on.

    `happened`: when goods left the shelf of which the shop only heard at `date`, or when so many were `counted`: see `rules.stock_counts`.
    """

    productid: str
    taxonomy: list[str]
    slot: int
    delta: int
    level: int
    reason: str
    mark: str
    date: str
    sku: NotRequired[str]
    orderid: NotRequired[str]
    note: NotRequired[str]
    happened: NotRequired[str]
    counted: NotRequired[int]
    moved_to: NotRequired[list[str]]


class StockTotal(StoredDocument):
    """The sum of a chain's movements up to the slot `slot`, made on `date`; `arrivals`: the marks of those that came with a moved product."""

    productid: str
    taxonomy: list[str]
    slot: int
    delta: int
    arrivals: list[str]
    date: str
    sku: NotRequired[str]


class Reservation(StoredDocument):
    """Stock kept for an order until it is paid or `expires`. `backorder_limit`: so many of it may wait for goods that are still to come."""

    productid: str
    taxonomy: list[str]
    orderid: str
    quantity: int
    date: str
    expires: str
    sku: NotRequired[str]
    backorder_limit: NotRequired[int]


class Settlement(StoredDocument):
    """How a reservation ended; with a `reference`, that sold goods came back."""

    productid: str
    taxonomy: list[str]
    orderid: str
    outcome: str
    quantity: int
    date: str
    sku: NotRequired[str]
    reference: NotRequired[str]
    mark: NotRequired[str]
