"""A product's card, the piece that lists of products are made of: two dozen of them are most of a page.

Written out in Python because a template takes eight times as long for it; its parts that repeat are drawn once by the macros.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote

from flask import current_app
from markupsafe import Markup, escape

from services.storefront.pages.escaping import escaped
from services.storefront.pages.picture_tags import FIRST, LAZY, picture_tag
from services.storefront.rules import prices
from services.storefront.rules.backorders import note, orderable
from services.storefront.rules.pictures import Source
from services.storefront.translation import Language, active_language
from services.storefront.translation import gettext as _

Product = dict[str, Any]


class _Texts(NamedTuple):
    """What every card says, in one language."""

    language: Language
    start: str
    was: str
    choose: str
    add: tuple[str, str]
    """Around the product's name."""
    sold_out: str


@lru_cache(32)
def _texts(language: Language) -> _Texts:
    """`language` is the active one, here and below."""
    before, _placeholder, after = _('Add<span class="hide-text"> %(name)s to the basket</span>').partition(
        "%(name)s"
    )
    sold_out, start = _("Sold out"), _("from")
    return _Texts(
        language,
        f'<span class="small">{start}</span> ',
        _("Was"),
        _("Choose"),
        (before, after),
        f'<span class="tag bad">{sold_out}</span>',
    )


@lru_cache(4096)
def _href(productid: str) -> str:
    return f"/product/{quote(productid, safe='')}"


CARD_WIDTHS = "(max-width: 36rem) 46vw, 16rem"


def cards(
    products: list[Product], sources: list[Source | None], level: str, back: str, csrf: Markup
) -> Markup:
    """The cards of a list with their pictures' `sources`; `level` is the heading they have, `back` the page to come back
    to after adding one."""
    inputs = f'{csrf}<input type="hidden" name="back" value="{escape(back)}">'
    texts = _texts(active_language())
    shown = zip(products, sources, strict=True)
    return Markup(
        "".join(
            [_card(each, level, inputs, source, place, texts) for place, (each, source) in enumerate(shown)]
        )
    )


def _card(product: Product, level: str, inputs: str, source: Source | None, place: int, texts: _Texts) -> str:
    name, price, language = escaped(product["name"]), product["price"], texts.language
    rating = product.get("rating")
    stars = _stars(language, rating["average"], rating["count"]) if rating and rating["count"] else ""
    start = texts.start if product.get("highest_price") else ""
    return f"""<li class="card">
<span class="shot">{_image(source, place) if source else _initial(product["name"][:1])}</span>
<div class="card-text">
<span class="brand-name">{escaped(product.get("brand") or "")}</span>
<{level}><a href="{_href(product["productid"])}">{name}</a></{level}>{stars}
<div class="card-foot"><span class="ticket">{start}{_price(language, price["amount"], price["currency"])}</span>{_was(product, texts)}
{_foot(product, name, inputs, texts)}
</div>{_others(product.get("others", ()), texts)}
</div>
</li>
"""


def _was(product: Product, texts: _Texts) -> str:
    """What the price is compared with."""
    before = product.get("compare_at_price")
    if not before:
        return ""
    amount = _price(texts.language, before["amount"], before["currency"])
    return f' <s class="was small"><span class="hide-text">{texts.was} </span>{amount}</s>'


def _others(others: Sequence[Product], texts: _Texts) -> str:
    """Products of the same title, beneath the one that stands for them."""
    if not others:
        return ""
    return _links(others, "productid", _("%(count)s more of this title", count=len(others)), texts)


def earlier_titles(others: Sequence[Product]) -> Markup:
    """Products whose title is a row of an earlier page."""
    return Markup(
        _links(
            others,
            "name",
            _("%(count)s more of titles shown before", count=len(others)),
            _texts(active_language()),
        )
    )


def _links(products: Sequence[Product], text: str, summary: str, texts: _Texts) -> str:
    links = "".join(
        [
            f'<li><a href="{_href(each["productid"])}">{escaped(each[text])}</a> '
            f"{_price(texts.language, each['price']['amount'], each['price']['currency'])} {'' if each['stock'] else texts.sold_out}</li>"
            for each in products
        ]
    )
    return (
        f'<details class="others small"><summary>{summary}</summary><ul class="plain">{links}</ul></details>'
    )


def _foot(product: Product, name: str, inputs: str, texts: _Texts) -> str:
    """What can be done: a product with options is chosen on its own page."""
    if orderable(product) <= 0:
        return texts.sold_out
    later = f'<span class="tag warn">{escape(text)}</span> ' if (text := note(product)) else ""
    if not product.get("options"):
        return later + _add_form(product, name, inputs, texts)
    href = _href(product["productid"])
    return f'{later}<a class="button second" href="{href}">{texts.choose}<span class="hide-text"> {name}</span></a>'


def _add_form(product: Product, name: str, inputs: str, texts: _Texts) -> str:
    """What it costs is for the basket of a device without a network."""
    (before, after), productid, price = texts.add, escaped(product["productid"]), product["price"]
    return f"""<form method="post" action="/basket" data-productid="{productid}" data-amount="{price["amount"]}" data-currency="{price["currency"]}" hx-post="/basket" hx-target="#notes" hx-swap="innerHTML">\
{inputs}<input type="hidden" name="productid" value="{productid}"><input type="hidden" name="name" value="{name}">\
<button class="second">{before}{name}{after}</button></form>"""


def _image(source: Source, place: int) -> str:
    """The first one is the largest thing seen at once; those further down are loaded when they come into view.

    Its alternative text is empty: the name of the product stands beside it.
    """
    return picture_tag(source, 400, CARD_WIDTHS, "", LAZY if place > 1 else "" if place else FIRST)


@lru_cache(256)
def _initial(letter: str) -> str:
    return str(_macros().initial(letter))


@lru_cache(1024)
def _stars(language: Language, average: float, count: int) -> str:
    return str(_macros().stars({"average": average, "count": count}))


@lru_cache(2048)
def _price(language: Language, amount: int, currency: str) -> str:
    return str(escape(prices.shown({"amount": amount, "currency": currency})))


def _macros() -> Any:
    return current_app.jinja_env.get_template("parts/macros.html").module
