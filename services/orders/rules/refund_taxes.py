"""Which taxes a refund gives back, so that what was refunded of each adds up to what was paid of it and never to more."""

from collections.abc import Sequence

from services.orders.declarations.order import Order
from services.orders.declarations.parts import AppliedTax, SoldLine, line_key
from services.orders.rules.pricing import by_rate
from services.orders.rules.returns import quantities_by_key
from shared.money import apportion, money

Taxes = list[AppliedTax]


def refunded_taxes(paid: Taxes, before: Sequence[Taxes], amount: int, wanted: Taxes) -> Taxes:
    """The parts of a refund of `amount`: those `wanted` (of the lines that came back) first, the rest in proportion to what is left
    of each after the refunds `before`."""
    left = _left(paid, before)
    first = [min(part, most) for part, most in zip(_of_rows(paid, wanted), left, strict=True)]
    if sum(first) > amount:
        first = apportion(amount, first)
    rest = [most - part for part, most in zip(first, left, strict=True)]
    more = apportion(min(amount - sum(first), sum(rest)), rest)
    parts = [one + other for one, other in zip(first, more, strict=True)]
    rows = zip(paid, parts[::2], parts[1::2], strict=True)
    return [_row(tax, base, tax_amount) for tax, base, tax_amount in rows if base or tax_amount]


def taxes_of_lines(order: Order, earlier: Sequence[SoldLine], lines: Sequence[SoldLine]) -> Taxes:
    """The taxes of goods that are paid back now, after those of `earlier`; none of an order of the last version."""
    before, now = quantities_by_key(earlier), quantities_by_key([*earlier, *lines])
    found = []
    for line in order["basket"]:
        tax, key, quantity = line.get("tax"), line_key(line), line["quantity"]
        first, last = min(before.get(key, 0), quantity), min(now.get(key, 0), quantity)
        if tax is None or first == last:
            continue
        base, amount = (
            tax[part]["amount"] * last // quantity - tax[part]["amount"] * first // quantity
            for part in ("base", "amount")
        )
        found.append(_row(tax, base, amount))
    return by_rate(found)


def _left(paid: Taxes, before: Sequence[Taxes]) -> list[int]:
    """What is left of each base and each amount; nothing where two replicas together have paid back more."""
    gone = [_of_rows(paid, taxes) for taxes in before]
    return [
        max(0, part - sum(each[index] for each in gone)) for index, part in enumerate(_of_rows(paid, paid))
    ]


def _of_rows(paid: Taxes, taxes: Taxes) -> list[int]:
    """Base and amount of `taxes` for each row of `paid`."""
    by_key = {_key(tax): tax for tax in taxes}
    rows = [by_key.get(_key(row)) for row in paid]
    return [row[part]["amount"] if row else 0 for row in rows for part in ("base", "amount")]


def _key(tax: AppliedTax) -> tuple[str, str, str, float, bool]:
    return tax["country"], tax["region"], tax["name"], tax["rate"], tax["included"]


def _row(tax: AppliedTax, base: int, amount: int) -> AppliedTax:
    currency = tax["base"]["currency"]
    return {**tax, "base": money(base, currency), "amount": money(amount, currency)}
