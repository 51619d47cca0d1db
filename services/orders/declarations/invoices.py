"""Invoices and credit notes: which number each has, and what of the shop was printed on it."""

from typing import Annotated, Final, TypedDict

from services.orders.declarations.common import ReadOnlyText
from services.orders.declarations.events import OrderEvent
from shared.couch import StoredDocument
from shared.fields import Declaration, Group, Text, TextList

INVOICE, CREDIT_NOTE = "invoice", "creditnote"


class Seller(TypedDict):
    """The shop as it was when a document was issued; `logo` is a picture's id."""

    name: Annotated[str, Text(0, 200, writable=False)]
    lines: Annotated[list[str], TextList(Text(0, 300), 0, 30, writable=False)]
    logo: Annotated[str, Text(0, 200, writable=False)]


class NumberRequest(OrderEvent):
    """An invoice or credit note (`kind`) is to get the first free number after `after` of a `year`. Whoever issues it begins there."""

    kind: str
    reference: str
    year: int
    after: int


class IssuedNumber(StoredDocument):
    """A number of a year, and what it was given to: numbers have no gaps."""

    kind: str
    number: int
    orderid: str
    reference: str
    date: str


class Invoice(OrderEvent):
    """An order's invoice. What else is printed on it is in the order's documents, none of which changes."""

    number: Annotated[str, ReadOnlyText]
    seller: Annotated[Seller, Group(Declaration(Seller).fields, writable=False)]
    language: Annotated[str, ReadOnlyText]


class CreditNote(OrderEvent):
    """What a refund takes back of an invoice."""

    number: Annotated[str, ReadOnlyText]
    invoice: Annotated[str, ReadOnlyText]
    reference: str
    seller: Annotated[Seller, Group(Declaration(Seller).fields, writable=False)]
    language: Annotated[str, ReadOnlyText]


INVOICE_FIELDS: Final = Declaration(Invoice)
CREDIT_NOTE_FIELDS: Final = Declaration(CreditNote)
