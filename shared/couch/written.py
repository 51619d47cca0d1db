"""What a database says of each document of a bulk write."""

from dataclasses import dataclass

from .errors import from_row as error_from_row


@dataclass(frozen=True)
class Written:
    """What became of one document of a bulk write: a new `rev`, or an `error` (`conflict`, `forbidden`, ...) and its reason.

    `accepted` says that fewer than a quorum of a cluster's nodes took it: it is stored, but it excludes nobody.
    """

    id: str
    rev: str | None = None
    error: str | None = None
    reason: str | None = None
    accepted: bool = False

    def raise_if_refused(self) -> None:
        """Raises what a write of it alone raises, unless it was taken or another writer was first (`conflict`)."""
        if self.error not in (None, "conflict"):
            raise error_from_row(self.id, str(self.error), self.reason)
