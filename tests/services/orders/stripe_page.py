"""The stand-in's payment page as a browser shows it: a button for everything that a customer may do."""

from html import escape
from typing import Any

from tests.services.orders.stripe_sessions import Sessions

BUTTONS = {
    "card": "Pay",
    "declined": "Pay with a card that is declined",
    "action": "Pay with 3-D Secure",
    "processing": "Pay by bank debit",
    "back": "Back to the shop",
}


def page_of(session: dict[str, Any]) -> str:
    """An ended session says so, as Stripe's page does."""
    if session["status"] == "expired":
        return "<!doctype html><title>Expired</title><h1>This page has expired</h1>"
    buttons = "".join(f'<button name="how" value="{how}">{words}</button>' for how, words in BUTTONS.items())
    total = f"{session['amount_total'] / 100:.2f} {session['currency'].upper()}"
    return (
        f'<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Stand-in for Stripe</title><h1>Pay {total}</h1>'
        f'<form method="post" action="{escape(session["url"])}">{buttons}</form></html>'
    )


def sent_to(checkout: Sessions, sessionid: str, how: str) -> str:
    """Where a customer is sent who pressed that button; a declined card and the end of 3-D Secure stay on the page."""
    session = checkout.sessions[sessionid]
    if how == "back":
        return str(session["cancel_url"])
    if how == "action":
        checkout.pay(sessionid, "action")
        checkout.authenticate(sessionid, passed=True)
    else:
        checkout.pay(sessionid, how)
    return str(session["success_url"] if session["status"] == "complete" else session["url"])
