"""The e-mails that a shop under test wrote into its Maildir."""

from pathlib import Path

from shared.maildir import Received, read_page


def read_mail(directory: Path | str, to: str = "", limit: int = 100) -> list[Received]:
    """The newest e-mails of a Maildir, newest first, for one recipient when `to` is given."""
    return read_page(Path(directory), to=to, limit=limit).items
