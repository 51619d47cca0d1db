"""The e-mails of an order at the desk: which went out, what each reads like in a language, and one sent again."""

from dataclasses import replace
from typing import Any

from services.orders.actions.emails import Composer, compose, compose_gift_cards, compose_payment_link
from services.orders.actions.gift_card_sales import codes_of
from services.orders.actions.line_cancellations import compose_line_cancellation
from services.orders.actions.parcel_emails import compose_parcel
from services.orders.actions.refund_emails import compose_refund
from services.orders.actions.return_emails import compose_return
from services.orders.declarations.events import ResentEmail
from services.orders.dependencies import Dependencies
from services.orders.documents import GIFT_CARDS_SENT, NOTICE, RESENT_EMAIL, order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.gift_card_delivery import GIFT_CARDS
from services.orders.rules.order_answers import payment_page
from services.orders.rules.progress import PAYMENT_LINK
from services.orders.rules.writing import event_fields
from shared.couch import time_ordered_id
from shared.errors import Conflict, NotFound
from shared.mail import Email
from shared.translation import language_active

SENT = "sent"


class NoSuchEmail(NotFound):
    code, title = "no_such_email", "There is no such e-mail"


class NoRecipient(Conflict):
    code, title = "no_recipient", "There is nobody to send it to"


def sent_emails(found: OrderDocuments) -> list[dict[str, Any]]:
    """Those of an order, the latest first. `result`: sent, nobody (the person was erased) or limited."""
    automatic = [
        {
            "kind": doc.get("kind", GIFT_CARDS),
            "date": doc["date"],
            "result": doc["message_id"],
            "by": "worker",
        }
        for doc in found.documents
        if doc["type"] in (NOTICE.name, GIFT_CARDS_SENT.name)
    ]
    again = [
        {"kind": doc["kind"], "date": doc["date"], "result": SENT, "by": doc["by"]}
        for doc in found.of_type(RESENT_EMAIL.name)
    ]
    return sorted([*automatic, *again], key=lambda each: (each["date"], each["kind"]), reverse=True)


def composed(deps: Dependencies, found: OrderDocuments, kind: str, language: str = "") -> Email:
    """An e-mail as it would go out now, in this language or the order's. Raises NoSuchEmail for what has not happened."""
    chosen = deps.language(language) if language else deps.language_of(found.order)
    with language_active(chosen):
        return _composer(found, kind)(deps, found, kind)


def send_again(
    deps: Dependencies, found: OrderDocuments, kind: str, actor: str, id: str | None
) -> ResentEmail:
    """A new e-mail with a Message-ID of its own; the same `id` is sent once. Raises NoSuchEmail, NoRecipient, Unavailable."""
    if kind not in [each["kind"] for each in sent_emails(found)]:
        raise NoSuchEmail(f"No e-mail {kind} has gone out for this order.")
    key = order_key(found.order["orderid"], f"resent-{id or time_ordered_id()}")
    known = next((doc for doc in found.of_type(RESENT_EMAIL.name) if doc["_id"] == key), None)
    if known is not None:
        return RESENT_EMAIL.among([known])[0]
    email = composed(deps, found, kind)
    if not email.to:
        raise NoRecipient("The customer was erased.")
    deps.mailer.send(replace(email, key=f"{email.key}.{key.rpartition('-')[2]}"))
    sent = RESENT_EMAIL.build(key, **event_fields(found.order), kind=kind, by=actor)
    return deps.orders.add(sent)[0]


def _composer(found: OrderDocuments, kind: str) -> Composer:
    parcel = next((each for each in found.parcels if kind in (each.kind, each.delivery_kind)), None)
    if parcel is not None and (kind == parcel.kind or parcel.delivery is not None):
        return compose_parcel if "lines" in parcel.dispatch else compose
    if any(kind in back.notices for back in found.order_returns):
        return compose_return
    if any(each["reference"] == kind for each in found.line_cancellations):
        return compose_line_cancellation
    if any(each["reference"] == kind and each.get("notify") for each in found.refunds):
        return compose_refund
    if kind == GIFT_CARDS and "giftcardssent" in {doc["_id"].partition(":")[2] for doc in found.documents}:
        return lambda deps, order, _: compose_gift_cards(deps, order, codes_of(deps, order))
    if kind == PAYMENT_LINK and found.order.get("payment_link") and payment_page(found) is not None:
        return compose_payment_link
    happened = {
        "payment": found.payment is not None,
        "cancellation": found.cancellation is not None,
        "payment_failed": found.cancellation is not None and found.payment is None,
    }
    if happened.get(kind):
        return compose
    raise NoSuchEmail(f"This order has no e-mail {kind}.")
