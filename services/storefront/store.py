"""The only files the storefront reads: a laptop's Maildir (local mode)."""

from pathlib import Path

from services.storefront.translation import gettext
from shared.errors import NotFound
from shared.maildir import Page, Received, read_one, read_page

PER_PAGE = 20


class Mailbox:
    """The mails that the shop sent from this laptop."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def page(self, to: str = "", after: str = "") -> Page:
        """The newest mails that are older than the mail `after`, for one recipient when `to` is given."""
        return read_page(self._directory, to=to, after=after, limit=PER_PAGE)

    def get(self, id: str) -> Received:
        """Raises NotFound."""
        found = read_one(self._directory, id)
        if found is None:
            raise NotFound(gettext("There is no such e-mail."))
        return found
