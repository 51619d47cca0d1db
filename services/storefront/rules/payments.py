"""What checkout offers to pay with: the sandbox's test cards, or the payment page of the provider that the shop has."""

from dataclasses import dataclass
from typing import Final

from services.storefront.translation import gettext
from services.storefront.translation import gettext_noop as _


@dataclass(frozen=True)
class Card:
    token: str
    words: str
    what: str


@dataclass(frozen=True)
class PaymentPage:
    """A provider's own page: `name` as customers know it, `origins` that a browser is sent on to, `keeps_methods`: for the next order."""

    name: str
    what: str
    origins: tuple[str, ...]
    keeps_methods: bool = False


SANDBOX_CARDS: Final = (
    Card("tok_ok", _("Test card ending 4242"), _("Pays at once.")),
    Card("tok_declined", _("Test card ending 0002"), _("The bank declines it.")),
    Card("tok_timeout", _("Test card ending 0119"), _("Pays, but the bank's answer is lost on the way.")),
    Card("tok_error", _("Test card ending 0341"), _("Fails at the first try and then pays.")),
)
PAYMENT_PAGES: Final = {
    "stripe": PaymentPage(
        "Stripe",
        _("Cards, and what else this shop takes there."),
        ("https://checkout.stripe.com",),
        keeps_methods=True,
    ),
    "paypal": PaymentPage(
        "PayPal",
        _("With your account there, or with a card."),
        ("https://www.paypal.com", "https://www.sandbox.paypal.com"),
    ),
}
"""By the provider's name; one that is not here takes the sandbox's cards."""


MANUAL_PAYMENTS: Final = {
    "cash": _("cash"),
    "bank_transfer": _("bank transfer"),
    "paid_elsewhere": _("paid elsewhere"),
    "terminal": _("card at the terminal"),
}
"""What staff have taken themselves, as the desk and the pages call it."""


def paid_with(provider: str) -> str:
    """What an order was paid with, in words."""
    if provider == "sandbox":
        return gettext("a test card")
    if page := payment_page(provider):
        return page.name
    return gettext(MANUAL_PAYMENTS[provider]) if provider in MANUAL_PAYMENTS else provider.capitalize()


def payment_page(provider: str) -> PaymentPage | None:
    return PAYMENT_PAGES.get(provider)


def form_targets(provider: str, own_origins: str) -> tuple[str, ...]:
    """Where the checkout's form may lead besides this shop; `own_origins` (separated by spaces) replaces the provider's."""
    page = payment_page(provider)
    if page is None:
        return ()
    return tuple(own_origins.split()) or page.origins
