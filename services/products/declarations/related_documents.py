"""Documents beside a product's own: reviews, price changes, pictures, what makes a SKU unique."""

from typing import Annotated, NotRequired

from shared.couch import StoredDocument
from shared.fields import Integer, Moment, Text
from shared.money import Money
from shared.staff_notes import StaffNote


class Forward(StoredDocument):
    """Stands where a product was before it moved to another category: `moved_to` is the id of its document there."""

    productid: str
    taxonomy: list[str]
    moved_to: str
    edited: str
    skus: NotRequired[list[str]]


class Review(StoredDocument):
    """What a buyer says. Its `_id` lets each write one of a product."""

    productid: Annotated[str, Text(1, 64, writable=False)]
    taxonomy: list[str]
    userid: str
    stars: Annotated[int, Integer(1, 5)]
    title: Annotated[str, Text(0, 200, default="", omit_default=False)]
    text: Annotated[str, Text(0, 5000, default="", omit_default=False)]
    date: Annotated[str, Moment(writable=False)]
    request: NotRequired[str]


class ProductNote(StaffNote):
    """What staff note on a product. It moves with the product, and stays as history when that is deleted."""

    productid: str
    taxonomy: list[str]


class PriceChange(StoredDocument):
    """An old price and the one that came after it; None for one that there was not, or is no more.

    `kind`: "price" where it is missing, "compare_at", "sale" (with its times) or "group".
    """

    productid: str
    taxonomy: list[str]
    before: Money | None
    after: Money | None
    date: str
    sku: NotRequired[str]
    kind: NotRequired[str]
    group: NotRequired[str]
    sale_from: NotRequired[str]
    sale_until: NotRequired[str]
    by: NotRequired[str]


class SkuClaim(StoredDocument):
    """Makes a SKU unique, by its `_id`."""

    sku: str
    productid: str
    claimed: str


class Picture(StoredDocument):
    """A picture, its files attached; named by the digest of the largest."""

    digest: str
    content_type: str
    size: int
    date: str
    width: NotRequired[int]
    height: NotRequired[int]


class PictureAddress(StoredDocument):
    """Which picture was fetched from an address, so that it is fetched once."""

    address: str
    digest: str
    date: str
