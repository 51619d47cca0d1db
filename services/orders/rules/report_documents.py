"""The documents of a report's partition, by what they are."""

from collections.abc import Iterable
from functools import cached_property

from services.orders.declarations.reports import Closing, ReportPart, ReportRequest, ReportResult
from services.orders.documents import CLOSING, REPORT_PART, REPORT_REQUEST, REPORT_RESULT
from shared.couch import Document


class ReportDocuments:
    """Of a computed report: request, parts, result. Of a closed period: its closings."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = list(documents)

    @cached_property
    def request(self) -> ReportRequest | None:
        return next(iter(REPORT_REQUEST.among(self._documents)), None)

    @cached_property
    def parts(self) -> dict[int, ReportPart]:
        """Those that are there, by number."""
        return {part["number"]: part for part in REPORT_PART.among(self._documents)}

    @cached_property
    def result(self) -> ReportResult | None:
        return next(iter(REPORT_RESULT.among(self._documents)), None)

    @cached_property
    def closings(self) -> list[Closing]:
        """Oldest first."""
        return sorted(CLOSING.among(self._documents), key=lambda closing: closing["number"])
