"""The HTML part of an e-mail: a page of tables and few styles, as mail programs show them, with the shop's logo above and its address below."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Letterhead:
    """Whose e-mails they are: the shop's name, the lines of its address, and where its logo is ("" without one)."""

    name: str = ""
    lines: tuple[str, ...] = ()
    logo: str = ""


@dataclass(frozen=True)
class Content:
    """What an e-mail says: paragraphs, then rows of a name and an amount, then paragraphs again, and a button."""

    subject: str
    text: str
    rows: Sequence[tuple[str, str]]
    closing: str
    link: str
    link_label: str


_STYLE = (
    "body{margin:0;background:#f4f4f1;font:16px/1.5 -apple-system,'Segoe UI',Roboto,Arial,sans-serif;color:#1d1d1b}"
    "a{color:#14532d}"
    ".sheet{width:100%;max-width:600px;background:#fff;border-radius:8px}"
    ".head,.body,.foot{padding:20px 28px}"
    ".head{border-bottom:1px solid #e2e2dc;font-size:20px;font-weight:bold}"
    ".foot{border-top:1px solid #e2e2dc;font-size:13px;color:#5c5c57}"
    ".rows{width:100%;border-collapse:collapse;margin:16px 0}"
    ".rows td{padding:6px 0;border-bottom:1px solid #ecece7;vertical-align:top}"
    ".amount{text-align:end;white-space:nowrap;padding-inline-start:16px}"
    ".button{background:#14532d;border-radius:6px;padding:12px 22px}"
    ".button a{color:#fff;font-weight:bold;text-decoration:none}"
)


def html_of(content: Content, language: str, direction: str, head: Letterhead) -> str:
    """The page, in ASCII."""
    parts = [
        *_paragraphs(content.text),
        _rows(content.rows),
        *_paragraphs(content.closing),
        _button(content.link, content.link_label),
    ]
    page = (
        f'<!doctype html><html lang="{escape(language)}" dir="{escape(direction)}"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(content.subject)}</title>'
        f"<style>{_STYLE}</style></head>\n"
        '<body><table role="presentation" align="center" class="sheet" width="600">\n'
        f"{_head(head)}"
        f'<tr><td class="body">{"".join(each for each in parts if each)}</td></tr>\n'
        f"{_foot(head)}</table></body></html>\n"
    )
    return page.encode("ascii", "xmlcharrefreplace").decode()


def _paragraphs(text: str) -> list[str]:
    found = (part.strip("\n") for part in text.split("\n\n"))
    return [f"<p>{'<br>'.join(escape(line) for line in part.splitlines())}</p>\n" for part in found if part]


def _rows(rows: Sequence[tuple[str, str]]) -> str:
    if not rows:
        return ""
    drawn = "".join(
        f'<tr><td>{escape(name)}</td><td class="amount">{escape(amount)}</td></tr>' for name, amount in rows
    )
    return f'<table class="rows">{drawn}</table>\n'


def _button(link: str, label: str) -> str:
    if not link:
        return ""
    return (
        '<table role="presentation"><tr><td class="button">'
        f'<a href="{escape(link)}">{escape(label or link)}</a></td></tr></table>\n'
    )


def _head(head: Letterhead) -> str:
    if not head.name:
        return ""
    logo = f'<img src="{escape(head.logo)}" alt="{escape(head.name)}" height="48">' if head.logo else ""
    return f'<tr><td class="head">{logo or escape(head.name)}</td></tr>\n'


def _foot(head: Letterhead) -> str:
    lines = [line for line in (head.name, *head.lines) if line]
    return f'<tr><td class="foot">{"<br>".join(map(escape, lines))}</td></tr>\n' if lines else ""
