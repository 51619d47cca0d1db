"""What customers get for goods that they send back: priced and kept in stock when the return is approved."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from services.orders.actions.refunds import share_of
from services.orders.actions.taxes import tax_step
from services.orders.clients.services import OutOfStock, ReservationClosed
from services.orders.declarations.exchanges import ExchangeOffer, OfferedLine, WantedLine
from services.orders.declarations.order import Order
from services.orders.declarations.parts import Line, SoldLine, line_key
from services.orders.dependencies import Dependencies
from services.orders.rules.addresses import destination_of
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.exchanges import exchange_orderid, exchanged, stock_of
from services.orders.rules.manual_payments import is_manual
from services.orders.rules.order_returns import OrderReturn
from services.orders.rules.pricing import Quote, exchange_price, offered_line, offered_quote
from services.orders.rules.returns import quantities_by_key
from shared.clock import iso, now, parse
from shared.errors import Conflict, Invalid

DAYS_WITHOUT_LIMIT = 30
"""How long goods are kept where the shop takes others back for ever."""
Offers = Mapping[str, Mapping[str, Any]]


class PaidByHand(Conflict):
    code, title = "paid_by_hand", "It was paid by hand"


class ExchangeNotPayable(Conflict):
    code, title = "exchange_not_payable", "The difference cannot be paid"


def wanted_lines(
    deps: Dependencies,
    found: OrderDocuments,
    back: Sequence[SoldLine],
    items: Sequence[Mapping[str, Any]],
    *,
    same_product: bool,
) -> list[WantedLine]:
    """`items` [{productid or sku, quantity, exchange_for}] of a return of the lines `back`; those that name nothing to exchange for are
    left out. Raises Invalid for what is not sold or did not come with the return, and with `same_product` for another product."""
    wanted: list[WantedLine] = [
        {"key": line_key(item), "wanted": item["exchange_for"], "quantity": item["quantity"]}
        for item in items
        if item.get("exchange_for")
    ]
    if not wanted:
        return []
    products = {line_key(line): line["productid"] for line in found.order["basket"]}
    offers = _offers(deps, found.order, [line["wanted"] for line in wanted])
    left, free = quantities_by_key(back), {line_key(line) for line in back if not line["amount"]}
    errors: dict[str, list[str]] = {}
    for index, line in enumerate(wanted):
        field = f"items.{index}.exchange_for"
        left[line["key"]] = left.get(line["key"], 0) - line["quantity"]
        if problem := _problem(offers.get(line["wanted"]), line["wanted"]):
            errors[field] = [problem]
        elif same_product and offers[line["wanted"]]["productid"] != products.get(line["key"]):
            errors[field] = ["Choose another variant of the same product."]
        elif left[line["key"]] < 0:
            errors[field] = ["More cannot be exchanged than comes back."]
        elif line["key"] in free:
            errors[field] = ["What has cost nothing cannot be exchanged."]
    if errors:
        raise Invalid("These goods cannot be sent instead.", errors=errors)
    return wanted


def keep_goods(
    deps: Dependencies, found: OrderDocuments, back: OrderReturn, wanted: Sequence[WantedLine]
) -> ExchangeOffer | None:
    """Prices what is wanted and keeps it in stock, for a short while until the approval is written. None where nothing is wanted.

    Raises OutOfStock, Invalid, ExchangeNotPayable, PaidByHand.
    """
    if not wanted:
        return None
    if is_manual(found.require_payment()):
        raise PaidByHand(
            "An order that staff took the money for is not exchanged: pay it back, and place another one."
        )
    offer: ExchangeOffer = {
        "orderid": exchange_orderid(found.order["orderid"], back.reference),
        "lines": _priced(deps, found, wanted),
        "difference": 0,
    }
    came = exchanged(offer, back.requested)
    worth = share_of(found, came)[0]
    priced = quote_offer(deps, found, offer["lines"], worth)
    offer["difference"] = priced.total["amount"] - worth
    if offer["difference"] > 0:
        page_provider(deps, found)
    expires = iso(now() + timedelta(seconds=deps.settings.reservation_seconds))
    stock = stock_of(offer["lines"])
    try:
        deps.products.reserve(offer["orderid"], stock, expires, again=True)
    except ReservationClosed:
        _take_again(deps, offer)
    return offer


def keep_on(deps: Dependencies, back: OrderReturn) -> None:
    """The goods of an approved offer are kept for as long as others may be sent back after it. Repeated it writes nothing."""
    if back.offer is not None and back.approved:
        days = deps.terms.returns.days or DAYS_WITHOUT_LIMIT
        expires = iso(parse(back.approved) + timedelta(days=days))
        deps.products.keep_on(back.offer["orderid"], stock_of(back.offer["lines"]), expires)


def give_up(deps: Dependencies, offer: ExchangeOffer) -> None:
    """The goods that were kept can be sold again. May be repeated."""
    deps.products.release(offer["orderid"], stock_of(offer["lines"]))


def quote_offer(
    deps: Dependencies, found: OrderDocuments, lines: Sequence[OfferedLine], at_most: int
) -> Quote:
    """What these lines of an offer cost; see `offered_quote`."""
    terms, customer = deps.terms, found.customer
    address = customer["deliveryAddress"] if customer else None
    return offered_quote(
        lines,
        found.order["total"]["currency"],
        terms,
        destination_of(address, terms.country),
        iso(now())[:10],
        tax_step(deps),
        at_most,
    )


def page_provider(deps: Dependencies, found: OrderDocuments) -> str:
    """On whose page a difference is paid: of the provider that took the money, or else of any. Raises ExchangeNotPayable."""
    own = found.require_payment()["provider"]
    names = sorted(deps.providers, key=lambda name: name != own)
    for name in names:
        if deps.providers[name].hosted is not None:
            return name
    raise ExchangeNotPayable(
        "What is wanted costs more than what comes back, and this shop has no payment page: choose something that costs no more."
    )


def _take_again(deps: Dependencies, offer: ExchangeOffer) -> None:
    """An earlier approval was not finished and what it kept went back."""
    try:
        deps.products.confirm(offer["orderid"], stock_of(offer["lines"]))
    except ReservationClosed as closed:
        raise OutOfStock("There is not enough in stock of what is wanted.") from closed


def _priced(deps: Dependencies, found: OrderDocuments, wanted: Sequence[WantedLine]) -> list[OfferedLine]:
    bought = {line_key(line): line for line in found.order["basket"]}
    offers = _offers(deps, found.order, [name for line in wanted for name in (line["key"], line["wanted"])])
    return [
        _offered(bought[line["key"]], line, offers[line["wanted"]], offers.get(line["key"]))
        for line in wanted
    ]


def _offered(
    bought: Line, line: WantedLine, offer: Mapping[str, Any], returned: Mapping[str, Any] | None
) -> OfferedLine:
    paid = bought["unitPrice"]["amount"]
    today = returned["price"]["amount"] if returned and _problem(returned, line["key"]) is None else None
    price = exchange_price(paid, today, offer["price"]["amount"])
    discount = bought["discount"]["amount"] if "discount" in bought else 0
    return offered_line(
        line["key"], line["quantity"], offer, price, discount * line["quantity"] // bought["quantity"]
    )


def _offers(deps: Dependencies, order: Order, names: Iterable[str]) -> Offers:
    """What is sold today under these names, in the order's currency and language; 1 call."""
    return deps.products.lookup(
        list(dict.fromkeys(names)),
        currency=order["total"]["currency"],
        language=order.get("language") or "",
    )


def _problem(offer: Mapping[str, Any] | None, name: str) -> str | None:
    if offer is None or not offer.get("for_sale", True) or offer.get("not_sold_in"):
        return f"{name} is not for sale."
    if offer.get("sku", name) is None:
        return f"{name} is sold by variant: name one of its SKUs."
    return "A gift card cannot be sent instead." if offer.get("kind") == "gift_card" else None
