"""Which goods of an exchange are sent, and which money pays for them."""

from collections.abc import Iterable, Sequence

from services.orders.declarations.credits import CreditPayment
from services.orders.declarations.events import Refund
from services.orders.declarations.exchanges import EXCHANGE, EXCHANGE_NAME, ExchangeOffer, OfferedLine
from services.orders.declarations.parts import SoldLine, StockLine, line_key
from services.orders.rules.credits import paid_by_credits
from services.orders.rules.identity import orderid_for
from services.orders.rules.returns import quantities_by_key
from shared.money import Money, money


def exchange_orderid(orderid: str, reference: str) -> str:
    """The id of the order that is sent for a return: one, however often it is approved."""
    return orderid_for(f"exchange {orderid}", reference)


def lines_to_send(offer: ExchangeOffer, came: Iterable[SoldLine]) -> list[OfferedLine]:
    """Those of the offer for which goods came back, as many as came."""
    left = quantities_by_key(came)
    found: list[OfferedLine] = []
    for line in offer["lines"]:
        quantity = min(line["quantity"], left.get(line["key"], 0))
        if quantity:
            left[line["key"]] -= quantity
            found.append(
                {**line, "quantity": quantity, "discount": line["discount"] * quantity // line["quantity"]}
            )
    return found


def exchanged(offer: ExchangeOffer, came: Sequence[SoldLine]) -> list[SoldLine]:
    """The goods that came back and for which others are sent: of each line as many as are."""
    sent: dict[str, int] = {}
    for line in lines_to_send(offer, came):
        sent[line["key"]] = sent.get(line["key"], 0) + line["quantity"]
    known = {line_key(line): line for line in came}
    return [{**known[key], "quantity": quantity} for key, quantity in sent.items()]


def stock_of(lines: Iterable[OfferedLine]) -> list[StockLine]:
    """As the stock ledger takes them: a line for each product or variant."""
    found: dict[str, StockLine] = {}
    for line in lines:
        known = found.get(line["wanted"])
        quantity = line["quantity"] + (known["quantity"] if known else 0)
        stock: StockLine = {
            "productid": line["productid"],
            "taxonomy": line["taxonomy"],
            "quantity": quantity,
        }
        if sku := line.get("sku"):
            stock["sku"] = sku
        found[line["wanted"]] = stock
    return list(found.values())


def not_sent(offer: ExchangeOffer, lines: Iterable[OfferedLine]) -> list[StockLine]:
    """What was kept for the offer beyond these lines."""
    sent = {line_key(line): line["quantity"] for line in stock_of(lines)}
    left = [(line, line["quantity"] - sent.get(line_key(line), 0)) for line in stock_of(offer["lines"])]
    return [{**line, "quantity": quantity} for line, quantity in left if quantity]


def moved_money(refund: Refund) -> tuple[list[CreditPayment], list[CreditPayment], int]:
    """Of a refund with an exchange: (what pays for the other goods, what goes back to gift cards, store credit and earlier exchanges,
    what goes back to the provider).

    What gift cards have paid goes first, as in a refund. Each part keeps where it came from, so that goods which are sent back a second
    time are paid back there.
    """
    credits, total = refund.get("credits", []), refund["total"]
    charged = total["amount"] - paid_by_credits(credits)
    share = refund.get("exchange")
    left = share["amount"]["amount"] if share else 0
    moved: list[CreditPayment] = []
    kept: list[CreditPayment] = []
    for credit in credits:
        part = min(left, credit["amount"]["amount"])
        left -= part
        currency = credit["amount"]["currency"]
        if part:
            moved.append({**credit, "amount": money(part, currency)})
        if rest := credit["amount"]["amount"] - part:
            kept.append({**credit, "amount": money(rest, currency)})
    if left:
        moved.append(_of_provider(refund["orderid"], money(left, total["currency"])))
    return moved, kept, charged - left


def _of_provider(orderid: str, amount: Money) -> CreditPayment:
    return {"kind": EXCHANGE, "id": orderid, "name": EXCHANGE_NAME, "amount": amount}
