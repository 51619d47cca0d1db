"""Reports that the worker computes, and closed periods."""

from typing import Annotated, Any, Final

from services.orders.declarations.common import Date
from shared.couch import StoredDocument
from shared.fields import Choice, Declaration, Text

REPORT_KINDS: Final = ("sales", "best-sellers", "fulfilment")
GRANULARITIES: Final = ("total", "year", "month", "day", "hour")


class ReportRequest(StoredDocument):
    """A report for the worker to compute."""

    reportid: str
    kind: Annotated[str, Choice(REPORT_KINDS)]
    by: Annotated[str, Choice(GRANULARITIES, default="month")]
    start: str
    end: str
    currency: Annotated[str | None, Text(3, 3, pattern="[A-Z]{3}", default=None)]
    date: Date


class ReportPart(StoredDocument):
    """The rows of one of a report's `parts`, so that a killed worker goes on where it was."""

    reportid: str
    number: int
    parts: int
    rows: list[dict[str, Any]]
    date: str


class ReportResult(StoredDocument):
    """A whole report."""

    reportid: str
    status: str
    result: dict[str, Any]
    date: str


class Closing(StoredDocument):
    """The sales of a day or month after its end; another `number` where they have changed since."""

    reportid: str
    kind: Annotated[str, Choice(("day", "month"))]
    period: Annotated[
        str, Text(7, 10, pattern=r"\d{4}-\d{2}(-\d{2})?", pattern_message="Write 2026-11 or 2026-11-20.")
    ]
    number: int
    start: str
    end: str
    groups: list[dict[str, Any]]
    date: str


class DailyFigures(StoredDocument):
    """The `step` of sending a day's figures to one address, of which only a hash is kept: `claim`, and `sent` behind it. By its `mark`
    a worker knows its own claim from one that another made in the same moment."""

    reportid: str
    step: str
    recipient: str
    number: int
    date: str
    mark: str


REPORT_REQUEST_FIELDS: Final = Declaration(ReportRequest)
CLOSING_FIELDS: Final = Declaration(Closing)
