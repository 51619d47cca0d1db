"""E-mails as the shop's services write them: in the active language, under its letterhead, linking its pages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypedDict, Unpack
from urllib.parse import quote

from shared.mail import Email
from shared.mail_html import Letterhead
from shared.translation import active_language


class EmailParts(TypedDict, total=False):
    """What an e-mail may have besides: `page` is a path of the storefront that a button with this `label` leads to, `link` an address elsewhere;
    see `shared.mail.Email`."""

    page: str
    link: str
    label: str
    key: str
    rows: Sequence[tuple[str, str]]
    closing: str


@dataclass(frozen=True)
class EmailWriter:
    """`letterhead` is asked for each e-mail: it may change."""

    storefront_url: str
    letterhead: Callable[[], Letterhead]

    def __call__(self, to: str, subject: str, text: str, **parts: Unpack[EmailParts]) -> Email:
        language, page = active_language(), parts.get("page")
        return Email(
            to,
            subject,
            text,
            link=parts.get("link", "") if page is None else f"{self.storefront_url.rstrip('/')}{page}",
            link_label=parts.get("label", ""),
            key=parts.get("key", ""),
            rows=tuple(parts.get("rows", ())),
            closing=parts.get("closing", ""),
            language=language.code,
            direction=language.direction,
            head=self.letterhead(),
        )


def letterhead_of(name: str, lines: Sequence[str], logo: str, storefront_url: str) -> Letterhead:
    """`logo` is the id of a picture."""
    address = f"{storefront_url.rstrip('/')}/pictures/{quote(logo, safe='')}/320" if logo else ""
    return Letterhead(name, tuple(lines), address)
