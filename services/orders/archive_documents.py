"""What is known of the archives of closed years, beside the orders.

archives:{year}     what staff have done with the orders of the year, and how far the worker is with it
"""

from typing import Final

from services.orders.declarations.archive import ArchiveYear
from shared.couch import DocumentType, document_id

ARCHIVES: Final = "archives"
ARCHIVE_YEAR = DocumentType.declared("archiveyear", ArchiveYear)


def archive_year_key(year: str) -> str:
    """`archives:2024`"""
    return document_id(ARCHIVES, year)
