"""Gift cards that an order bought: issued once when it is paid, taken back when it is cancelled before they are used."""

from services.orders.actions import credits, gift_cards
from services.orders.declarations.credits import CANCELLED, GIFT_CARD
from services.orders.dependencies import Dependencies
from services.orders.documents import GIFT_CARD_ISSUE, order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.credits import Chain, Change, CreditKey
from services.orders.rules.gift_cards import card_id, code_of
from services.orders.rules.progress import NotPossible
from services.orders.rules.writing import event_fields
from shared.errors import Conflict
from shared.money import Money


class CodesLost(Conflict):
    code, title = "codes_lost", "The codes of an order's gift cards cannot be made again"


def issue_bought(deps: Dependencies, found: OrderDocuments) -> tuple[OrderDocuments, list[tuple[str, Money]]]:
    """Issues every gift card of the order once, and answers their codes; none when the order was cancelled first.

    Raises CodesLost where SECRET_KEY was replaced between this and an issue that was cut off: an admin looks at it.
    """
    order = found.order
    cards = codes_of(deps, found)
    decided = GIFT_CARD_ISSUE.build(
        order_key(order["orderid"], "giftcards"),
        **event_fields(order),
        cards=[card_id(code) for code, _ in cards],
    )
    stored, _ = deps.orders.add(decided)
    if stored["cards"] != decided["cards"]:
        raise CodesLost(f"Order {order['orderid']}: issue its gift cards at the desk.")
    found = found.with_document(stored)
    for code, value in cards:
        chain = gift_cards.issue(deps, code, value, "shop", f"Order {order['orderid']}", order["orderid"])
        if chain.found(order["orderid"], CANCELLED):
            return found, []
    return found, cards


def codes_of(deps: Dependencies, found: OrderDocuments) -> list[tuple[str, Money]]:
    """A code and its value for each piece of each line that is a gift card, always the same."""
    secret, orderid = deps.settings.secret_key, found.order["orderid"]
    return [
        (code_of(secret, f"order {orderid} {line['line']} {piece}"), line["unitPrice"])
        for line in found.order["basket"]
        if line.get("gift_card")
        for piece in range(line["quantity"])
    ]


def check_unused(deps: Dependencies, found: OrderDocuments) -> None:
    """Raises NotPossible when a gift card of the order has been used: what it paid for cannot be taken back."""
    for chain, value in _chains(deps, found):
        if chain.slots and chain.balance < value["amount"]:
            raise NotPossible(
                "A gift card of this order has been used: it cannot be cancelled any more.",
                order_status=found.status,
            )


def take_back(deps: Dependencies, found: OrderDocuments) -> int:
    """Empties every gift card of a cancelled order and keeps those from being issued that are not; what of them was used by then.

    May be repeated.
    """
    used, orderid = 0, found.order["orderid"]
    for chain, value in _chains(deps, found):

        def change(now: Chain) -> Change | None:
            if now.found(orderid, CANCELLED):
                return None
            return Change(-now.balance, CANCELLED, orderid, "shop", "The order was cancelled.")

        about = {"currency": value["currency"], "name": "Gift card", "issued": "", "expires": ""}
        ended = credits.append(deps, chain.key, change, about=about)
        entry = ended.found(orderid, CANCELLED)
        issued = sum(each["delta"] for each in ended.entries if each["delta"] > 0)
        used += issued + (entry["delta"] if entry else 0)
    return used


def _chains(deps: Dependencies, found: OrderDocuments) -> list[tuple[Chain, Money]]:
    """The chains of the cards that were decided on, or else of those that would be."""
    values = [value for _, value in codes_of(deps, found)]
    if found.gift_cards:
        ids = found.gift_cards["cards"]
    else:
        ids = [card_id(code) for code, _ in codes_of(deps, found)]
    return [
        (deps.credits.chain(CreditKey(GIFT_CARD, id, value["currency"])), value)
        for id, value in zip(ids, values, strict=True)
    ]
