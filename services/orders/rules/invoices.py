"""What stands on invoices, credit notes and packing slips, in the active language: plain texts that `printing` sets on pages."""

from collections.abc import Iterable, Sequence
from typing import Any, TypedDict

from services.orders.declarations.events import OrderDispatch, OrderPayment, Refund
from services.orders.declarations.invoices import CreditNote, Invoice, Seller
from services.orders.declarations.order import Customer, Order, name_of
from services.orders.declarations.parts import AppliedTax, Line
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.credits import credits_of, to_charge
from services.orders.rules.pricing import ShopIdentity
from services.orders.rules.shipping_text import shipping_text
from shared.addresses import country_names, envelope
from shared.clock import parse
from shared.money import Money
from shared.money_text import localized
from shared.translation import active_language, day_text, gettext, ngettext, number_text, territory_names


class Section(TypedDict):
    """A heading with lines below it, or with pairs of a name and a value."""

    title: str
    lines: list[str]
    facts: list[list[str]]


class Table(TypedDict):
    """`numeric` says of each column whether it is set to the right."""

    title: str
    head: list[str]
    numeric: list[bool]
    rows: list[list[str]]


class PrintedPage(TypedDict):
    """A document for print. `missing` is what it says below of characters ({characters}) that no font has."""

    title: str
    language: str
    date: str
    seller: Seller
    sections: list[Section]
    tables: list[Table]
    sums: list[list[str]]
    notes: list[str]
    missing: str


def seller_of(shop: ShopIdentity, country: str) -> Seller:
    """The shop with its address; one that tells none is in its country."""
    return {"name": shop.name, "lines": list(shop.address) or _country(country), "logo": shop.logo}


def invoice_page(found: OrderDocuments, invoice: Invoice) -> PrintedPage:
    order, payment = found.order, found.require_payment()
    return page(
        gettext("Invoice %(number)s", number=invoice["number"]),
        invoice["date"],
        invoice["seller"],
        [*_customer(found), _details(order, payment, invoice)],
        [_bought(order["basket"]), *_tax_table(order.get("taxes", []))],
        _sums(order),
    )


def credit_note_page(found: OrderDocuments, note: CreditNote, refund: Refund) -> PrintedPage:
    order = found.order
    details = section(
        gettext("Details"),
        facts=[
            [gettext("Invoice"), note["invoice"]],
            [gettext("Order"), name_of(order)],
            [gettext("Date"), day(note["date"])],
            [gettext("Date of the refund"), day(refund["date"])],
            *([[gettext("Reason"), refund["reason"]]] if refund["reason"] else []),
        ],
    )
    back = [[credit["name"], localized(credit["amount"])] for credit in refund.get("credits", [])]
    return page(
        gettext("Credit note %(number)s", number=note["number"]),
        note["date"],
        note["seller"],
        [*_customer(found), details],
        _tax_table(refund.get("taxes", [])),
        [*back, [gettext("Credited in all"), localized(refund["total"])]],
    )


def packing_slip_page(
    found: OrderDocuments,
    seller: Seller,
    lines: Sequence[Line],
    parcel: OrderDispatch | None,
    *,
    customs_form: bool,
) -> PrintedPage:
    """Of what goes into a parcel, without prices. `customs_form`: one on paper comes with it."""
    order = found.order
    facts = [[gettext("Order"), name_of(order)], [gettext("Placed"), day(order["date"])]]
    if order.get("shipping"):
        facts.append([gettext("Delivery"), shipping_text(order)])
    if parcel is not None:
        facts.append([gettext("Courier"), f"{parcel['courier']} {parcel['courierid']}"])
    table: Table = {
        "title": "",
        "head": [gettext("Quantity"), gettext("Product"), gettext("Article")],
        "numeric": [True, False, False],
        "rows": [[str(line["quantity"]), _named(line), _article(line)] for line in lines],
    }
    pieces = sum(line["quantity"] for line in lines)
    return page(
        gettext("Packing slip %(number)s", number=name_of(order)),
        parcel["date"] if parcel else order["date"],
        seller,
        [*_receiver(found), section(gettext("Details"), facts=facts)],
        [table],
        [],
        [
            ngettext("%(num)s item in all.", "%(num)s items in all.", pieces),
            *([gettext("A customs form comes with this parcel.")] if customs_form else []),
            gettext("Thank you for your order."),
        ],
    )


def page(
    title: str,
    date: str,
    seller: Seller,
    sections: list[Section],
    tables: list[Table],
    sums: list[list[str]],
    notes: Sequence[str] = (),
) -> PrintedPage:
    return {
        "title": title,
        "language": active_language().code,
        "date": date,
        "seller": seller,
        "sections": sections,
        "tables": tables,
        "sums": sums,
        "notes": list(notes),
        "missing": gettext(
            "Characters that cannot be printed here are written as their numbers: {characters}."
        ),
    }


def section(title: str, lines: Iterable[str] = (), facts: list[list[str]] | None = None) -> Section:
    return {"title": title, "lines": list(lines), "facts": facts or []}


def _customer(found: OrderDocuments) -> list[Section]:
    """Who bought and where it went; nothing of a person who was erased."""
    customer = found.customer
    if customer is None:
        return []
    who = [text for text in (customer["name"], customer["email"]) if text]
    return [*([section(gettext("Customer"), who)] if who else []), *_receiver(found)]


def _receiver(found: OrderDocuments) -> list[Section]:
    """The address; goods that are collected, and gift cards by e-mail, do not go there."""
    lines = _address_lines(found.customer) if found.customer else []
    goes_there = not found.goes_by_email and "collect_from" not in found.order.get("shipping", {})
    return [section(gettext("Goes to") if goes_there else gettext("Address"), lines)] if lines else []


def _address_lines(customer: Customer) -> list[str]:
    """Every part of the address as its country writes it, and the country's name."""
    address: Any = customer["deliveryAddress"]
    if not address:
        return []
    if isinstance(address, str):
        return [line for line in (customer["name"], *address.splitlines()) if line]
    country = address.get("country", "")
    if country and address.get("line1"):
        return envelope(address.get("name", ""), address, country) + _country(country)
    return [line for line in (customer["name"], *str(address.get("address", "")).splitlines()) if line]


def _country(code: str) -> list[str]:
    name = territory_names(country_names()).get(code)
    return [name] if name else []


def _details(order: Order, payment: OrderPayment, invoice: Invoice) -> Section:
    return section(
        gettext("Details"),
        facts=[
            [gettext("Order"), name_of(order)],
            [gettext("Placed"), day(order["date"])],
            [gettext("Date of payment"), day(payment["date"])],
            [gettext("Date of the invoice"), day(invoice["date"])],
        ],
    )


def _bought(lines: Sequence[Line]) -> Table:
    return {
        "title": gettext("What was bought"),
        "head": [
            gettext("Quantity"),
            gettext("Product"),
            gettext("Article"),
            gettext("Unit price"),
            gettext("Discount"),
            gettext("Tax"),
            gettext("Total"),
        ],
        "numeric": [True, False, False, True, True, True, True],
        "rows": [_row(line) for line in lines],
    }


def _row(line: Line) -> list[str]:
    discount, tax = line.get("discount"), line.get("tax")
    return [
        str(line["quantity"]),
        _named(line),
        _article(line),
        localized(line["unitPrice"]),
        _less(discount) if discount and discount["amount"] else "",
        f"{_rate(tax)} %" if tax else "",
        localized(line.get("payable", line["total"])),
    ]


def _tax_table(taxes: Sequence[AppliedTax]) -> list[Table]:
    if not taxes:
        return []
    return [
        {
            "title": gettext("Tax"),
            "head": [gettext("Tax"), gettext("Rate"), gettext("Net amount"), gettext("Tax amount")],
            "numeric": [False, True, True, True],
            "rows": [
                [
                    tax["name"] or gettext("Without tax"),
                    f"{_rate(tax)} %",
                    localized(tax["base"]),
                    localized(tax["amount"]),
                ]
                for tax in taxes
            ],
        }
    ]


def _sums(order: Order) -> list[list[str]]:
    """Goods, discounts, delivery, added taxes and the total, and what gift cards and store credit paid of it."""
    credits = credits_of(order)
    return [
        [gettext("Goods"), localized(order["goods"])],
        *([_discount_name(each), _less(each["amount"])] for each in order.get("discounts", [])),
        [shipping_text(order), localized(order["delivery"])],
        *(
            [f"{tax['name']} {_rate(tax)} %", localized(tax["amount"])]
            for tax in order.get("taxes", [])
            if tax["amount"]["amount"] and not tax["included"]
        ),
        [gettext("Total"), localized(order["total"])],
        *([credit["name"], _less(credit["amount"])] for credit in credits),
        *([[gettext("Charged"), localized(to_charge(order))]] if credits else []),
    ]


def _discount_name(discount: Any) -> str:
    return f"{discount['name']} ({discount['code']})" if discount.get("code") else str(discount["name"])


def _less(amount: Money) -> str:
    return f"−{localized(amount)}"


def _rate(tax: AppliedTax) -> str:
    return number_text(tax["rate"], "0.####")


def _named(line: Line) -> str:
    options = ", ".join(f"{name}: {value}" for name, value in line.get("options", {}).items())
    return f"{line['name']}\n{options}" if options else line["name"]


def _article(line: Line) -> str:
    return line.get("sku") or line["productid"]


def day(date: str) -> str:
    return day_text(parse(date))
