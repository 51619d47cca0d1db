"""The e-mail about money that staff pay back."""

from services.orders.actions.emails import compose_mail
from services.orders.declarations.credits import CREDIT_KINDS, STORE_CREDIT, CreditPayment
from services.orders.declarations.events import Refund
from services.orders.declarations.order import name_of
from services.orders.dependencies import Dependencies
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.captures import charged_part
from services.orders.rules.credits import paid_by_credits
from shared.mail import Email
from shared.money import money
from shared.money_text import localized
from shared.translation import gettext


def compose_refund(deps: Dependencies, found: OrderDocuments, kind: str) -> Email:
    """Of the refund whose reference is the `kind`: how much, what for, and each way that it goes. In the active language."""
    refund = next(each for each in found.refunds if each["reference"] == kind)
    total, order = localized(refund["total"]), name_of(found.order)
    goods = "\n".join(f"{line['quantity']} x {line['name']}" for line in refund.get("lines", []))
    by_provider = charged_part(refund) and not refund.get("by_hand")
    body = [
        gettext("we are paying back %(total)s of your order.", total=total),
        *([gettext("It is for:"), goods] if goods else []),
        *([gettext("The reason: %(reason)s", reason=refund["reason"])] if refund["reason"] else []),
    ]
    return compose_mail(
        deps,
        found,
        gettext("We are paying back %(total)s of your order %(order)s", total=total, order=order),
        "\n\n".join(body),
        kind,
        rows=_ways(refund),
        closing=gettext("It can take a few days until it is on your account.") if by_provider else "",
    )


def _ways(refund: Refund) -> list[tuple[str, str]]:
    """Where the money goes. What an exchange took from another order goes back as that was paid."""
    credits = [each for each in refund.get("credits", []) if each["kind"] in CREDIT_KINDS]
    ways = [(_name(each), localized(each["amount"])) for each in credits]
    rest = refund["total"]["amount"] - paid_by_credits(credits)
    back = localized(money(rest, refund["total"]["currency"]))
    return [*ways, *([(gettext("The way you paid"), back)] if rest else [])]


def _name(credit: CreditPayment) -> str:
    return gettext("To your store credit") if credit["kind"] == STORE_CREDIT else credit["name"]
