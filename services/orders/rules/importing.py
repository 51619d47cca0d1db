"""One line of an order history to the documents of that order; nothing in it is guessed or rounded."""

import re
from typing import Any, cast

from services.orders.declarations.common import MAX_LINES, MAX_QUANTITY, ORDERID
from services.orders.declarations.order import ORDER_CONTENT, Customer, Order
from services.orders.declarations.parts import LINE_FIELDS, Line, line_key
from services.orders.documents import CUSTOMER, ORDER, order_key
from services.orders.rules.writing import costs_of, delivery_of, dispatch_of, items_of, payment_of
from shared.clock import iso, parse
from shared.couch import Document
from shared.errors import Invalid
from shared.idempotency import fingerprint_of
from shared.money import CURRENCIES, Money, money

MAX_AMOUNT = 10**13
_ORDERID = re.compile(ORDERID)
_KNOWN = {
    "orderid",
    "userid",
    "date",
    "currency",
    "items",
    "payment",
    "dispatch",
    "delivery",
    "name",
    "email",
    "deliveryAddress",
    *ORDER_CONTENT.writable,
}


def documents_of(line: Any) -> list[Document]:
    """The order first, then its lines and what happened to it. Raises Invalid naming the field that is wrong."""
    if not isinstance(line, dict):
        raise Invalid("A line is one JSON object.")
    if unknown := line.keys() - _KNOWN:
        raise Invalid(f"Unknown fields: {', '.join(sorted(unknown))}.")
    order = _order(line)
    docs: list[Document] = [
        order,
        *items_of(order),
        *costs_of(order["orderid"], _costs(order, line["items"])),
    ]
    if any(name in line for name in ("name", "email", "deliveryAddress")):
        docs.append(_customer(order, line))
    return docs + _events(order, line)


def _order(line: dict[str, Any]) -> Order:
    orderid, currency, date = line.get("orderid"), line.get("currency"), _date(line, "date")
    if not isinstance(orderid, str) or not _ORDERID.fullmatch(orderid):
        raise Invalid("orderid: 1 to 64 letters, digits, dots, dashes or underscores.")
    if currency not in CURRENCIES:
        raise Invalid(f"currency: {currency!r} is not a currency the shop takes.")
    items = line.get("items")
    if not isinstance(items, list) or not 1 <= len(items) <= MAX_LINES:
        raise Invalid(f"items: a list of 1 to {MAX_LINES}.")
    basket = [_item(number, item, currency) for number, item in enumerate(items, 1)]
    total = _amount(sum(item["total"]["amount"] for item in basket), currency, "the order's total")
    none = money(0, currency)
    return ORDER.build(
        order_key(orderid, "order"),
        orderid=orderid,
        userid=_text(line, "userid", optional=True),
        basket=basket,
        goods=total,
        delivery=none,
        tax={"name": "", "basisPoints": 0, "included": True, "total": none},
        total=total,
        date=date,
        provider=_text(_part(line, "payment"), "provider"),
        fingerprint=fingerprint_of(line),
        imported=True,
        **_content(line),
    )


def _item(number: int, item: Any, currency: str) -> Line:
    if not isinstance(item, dict):
        raise Invalid(f"items.{number - 1}: an object.")
    quantity, price = (
        item.get("quantity"),
        _amount(item.get("unitPrice"), currency, f"items.{number - 1}.unitPrice"),
    )
    if type(quantity) is not int or not 1 <= quantity <= MAX_QUANTITY:
        raise Invalid(f"items.{number - 1}.quantity: a whole number of at least 1.")
    total = money(price["amount"] * quantity, currency)
    if "total" in item:
        total = _amount(item["total"], currency, f"items.{number - 1}.total")
    line: Line = {
        "line": number,
        "productid": _required(item, "productid"),
        "taxonomy": [],
        "name": _required(item, "name"),
        "quantity": quantity,
        "unitPrice": price,
        "delivery": money(0, currency),
        "total": total,
    }
    return cast(Line, line | _variant(number, item))


def _costs(order: Order, items: list[dict[str, Any]]) -> dict[str, int]:
    """What one piece of a line cost the shop, by SKU or productid, where the line's `cost` says it. Lines of the same goods say the same."""
    costs: dict[str, int] = {}
    for number, (line, item) in enumerate(zip(order["basket"], items, strict=True)):
        if item.get("cost") is None:
            continue
        where = f"items.{number}.cost"
        cost = _amount(item["cost"], order["total"]["currency"], where)["amount"]
        if costs.setdefault(line_key(line), cost) != cost:
            raise Invalid(f"{where}: another line of the same goods has another cost.")
    return costs


def _variant(number: int, item: dict[str, Any]) -> dict[str, Any]:
    """The SKU and the options of a variant, where the line has them."""
    names = ("sku", "options")
    content, errors = LINE_FIELDS.check_changes({name: item[name] for name in names if item.get(name)})
    for name, messages in errors.items():
        raise Invalid(f"items.{number - 1}.{name}: {messages[0]}")
    return content


def _customer(order: Order, line: dict[str, Any]) -> Customer:
    return CUSTOMER.build(
        order_key(order["orderid"], "customer"),
        orderid=order["orderid"],
        userid=order["userid"],
        name=_personal(line, "name"),
        email=_personal(line, "email"),
        deliveryAddress=line.get("deliveryAddress"),
    )


def _personal(line: dict[str, Any], name: str) -> str:
    return "" if line.get(name) in (None, "") else _text(line, name) or ""


def _events(order: Order, line: dict[str, Any]) -> list[Document]:
    paid = _part(line, "payment")
    payment = payment_of(
        order,
        order["provider"],
        _text(paid, "provider_ref") or "",
        order["total"],
        _date(paid, "date", "payment."),
    )
    docs: list[Document] = [payment]
    if "delivery" in line and "dispatch" not in line:
        raise Invalid("delivery: an order cannot arrive before it was dispatched.")
    if "dispatch" in line:
        sent = _part(line, "dispatch")
        courier, parcel = _text(sent, "courier", optional=True), _text(sent, "courierid", optional=True)
        dispatch = dispatch_of(order, payment, courier or "", parcel or "", _date(sent, "date", "dispatch."))
        docs.append(dispatch)
        if "delivery" in line:
            arrived = _part(line, "delivery")
            docs.append(delivery_of(order, dispatch, _date(arrived, "date", "delivery.")))
    return docs


def _content(line: dict[str, Any]) -> dict[str, Any]:
    content, errors = ORDER_CONTENT.check(
        {name: line[name] for name in ORDER_CONTENT.writable if name in line}
    )
    for name, messages in errors.items():
        raise Invalid(f"{name}: {messages[0]}")
    return ORDER_CONTENT.stored(content)


def _part(line: dict[str, Any], name: str) -> dict[str, Any]:
    part = line.get(name)
    if not isinstance(part, dict):
        raise Invalid(f"{name}: an object with a date.")
    return part


def _text(part: dict[str, Any], name: str, *, optional: bool = False) -> str | None:
    value = part.get(name)
    if value is None and optional:
        return None
    if not isinstance(value, str) or not 1 <= len(value) <= 1000:
        raise Invalid(f"{name}: a text of 1 to 1000 characters.")
    return value


def _required(part: dict[str, Any], name: str) -> str:
    return _text(part, name) or ""


def _date(part: dict[str, Any], name: str, where: str = "") -> str:
    value = part.get(name)
    if not isinstance(value, str):
        raise Invalid(f"{where}{name}: a date such as 2019-01-31 or 2019-01-31T13:00:00Z.")
    return value if _is_stored_form(value) else iso(parse(value))


def _is_stored_form(value: str) -> bool:
    """Whether a date has the stored form already; it is parsed all the same, for 2019-02-30 is none."""
    return len(value) == 24 and value.endswith("Z") and iso(parse(value)) == value


def _amount(value: Any, currency: str, where: str) -> Money:
    amount = value.get("amount") if isinstance(value, dict) else value
    if isinstance(value, dict) and value.get("currency", currency) != currency:
        raise Invalid(f"{where}: one order holds one currency.")
    if type(amount) is not int or not 0 <= amount <= MAX_AMOUNT:
        raise Invalid(f"{where}: minor units, a whole number from 0 to {MAX_AMOUNT}.")
    return money(amount, currency)
