"""A picture as a page shows it: in the width that its place takes, as WebP where the browser knows it."""

from collections.abc import Iterable
from typing import Any

from markupsafe import Markup, escape

from services.storefront.pages.context import dependencies
from services.storefront.rules.pictures import Source, first_source, sources
from services.storefront.translation import gettext as _

LAZY = ' loading="lazy" decoding="async"'
FIRST = ' fetchpriority="high"'


def picture_tag(source: Source, side: int, sizes: str, alt: str, loading: str = LAZY) -> Markup:
    """An element `side` pixels wide and high as far as the page knows before it is styled; `sizes` is how wide it is then."""
    size = f'width="{side}" height="{side}" alt="{escape(alt)}"{loading}'
    if not source.webp:
        return Markup(f'<img src="{escape(source.src)}" {size}>')
    return Markup(
        f'<picture><source type="image/webp" srcset="{source.webp}" sizes="{sizes}">'
        f'<img src="{source.src}" srcset="{source.srcset}" sizes="{sizes}" {size}></picture>'
    )


def shown_sources(product: dict[str, Any]) -> list[Source]:
    """All pictures of a product that pages may show."""
    return sources(product, _origins())


def shown_first(product: dict[str, Any]) -> Source | None:
    return first_source(product, _origins())


def all_shown_first(products: Iterable[dict[str, Any]]) -> list[Source | None]:
    origins = _origins()
    return [first_source(product, origins) for product in products]


def _origins() -> list[str]:
    return dependencies().settings.image_origins.split()


def gallery(product: dict[str, Any]) -> list[tuple[Markup, Markup]]:
    """Each picture of a product's own page, large and as what leads to it. The first is the largest thing seen at once."""
    found = shown_sources(product)
    shown = []
    for number, source in enumerate(found, start=1):
        alt = source.alt or _alternative_text(product["name"], number)
        large = picture_tag(
            source, 720, "(max-width: 52rem) 94vw, 38rem", alt, FIRST if number == 1 else LAZY
        )
        shown.append(
            (
                large,
                picture_tag(
                    source, 88, "88px", _("Show picture %(number)s: %(text)s", number=number, text=alt)
                ),
            )
        )
    return shown


def _alternative_text(name: str, number: int) -> str:
    return name if number == 1 else _("%(product)s, picture %(number)s", product=name, number=number)


def product_picture(product: dict[str, Any], side: int, alt: str = "") -> Markup | None:
    """The first picture of a product, `side` pixels wide, where it is one of several things on a page."""
    source = shown_first(product)
    return picture_tag(source, side, f"{side}px", alt) if source else None
