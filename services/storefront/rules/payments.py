"""What checkout offers to pay with: the test cards of each provider the shop knows."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Card:
    token: str
    words: str
    what: str


CARDS = {
    "sandbox": (
        Card("tok_ok", "Test card ending 4242", "Pays at once."),
        Card("tok_declined", "Test card ending 0002", "The bank declines it."),
        Card("tok_timeout", "Test card ending 0119", "Pays, but the bank's answer is lost on the way."),
        Card("tok_error", "Test card ending 0341", "Fails at the first try and then pays."),
    ),
    "stripe": (
        Card("pm_card_visa", "Stripe's test card ending 4242", "Pays at once, in Stripe's test mode."),
        Card("pm_card_visa_chargeDeclined", "Stripe's test card ending 0002", "Stripe declines it."),
    ),
}
