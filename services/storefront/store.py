"""The only files the storefront reads: a laptop's Maildir (local mode)."""

from pathlib import Path

from shared.mail import Received, read_mail


class Letters:
    """The letters the shop sent from this laptop."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def newest(self, to: str = "") -> list[Received]:
        return read_mail(self._directory, to, limit=50)
