"""The CDNOW purchases (Fader and Hardie) as lines of an order history: a test helper, the data itself is not ours.

`python -m tests.services.orders.cdnow FILE [EVERY]` prints NDJSON for POST /v1/admin/orders/import.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson


@dataclass(frozen=True)
class Purchase:
    """One row: a customer bought so many CDs for so many cents on a day."""

    number: int
    customer: str
    day: str
    discs: int
    cents: int


def purchases(path: Path, every: int = 1) -> Iterator[Purchase]:
    """The rows of the file, or every `every`th of them."""
    with path.open(encoding="ascii") as rows:
        parts = (row.split() for row in rows)
        numbered = enumerate((part for part in parts if part and part[0].isdigit()), 1)
        for number, (customer, day, discs, dollars) in numbered:
            if number % every == 0:
                whole, _, cents = dollars.partition(".")
                yield Purchase(
                    number,
                    customer,
                    f"{day[:4]}-{day[4:6]}-{day[6:]}",
                    int(discs),
                    int(whole) * 100 + int(f"{cents:0<2}"),
                )


def line(purchase: Purchase) -> bytes:
    """A purchase as an order with one line item, paid and delivered that day. The line's total is the amount paid."""
    day, number = purchase.day, f"{purchase.number:05d}"
    item = {
        "productid": "cd",
        "name": "CD",
        "quantity": purchase.discs,
        "unitPrice": {"amount": purchase.cents // purchase.discs, "currency": "USD"},
        "total": {"amount": purchase.cents, "currency": "USD"},
    }
    order = {
        "orderid": f"cdnow-{number}",
        "userid": f"cdnow{purchase.customer}",
        "date": f"{day}T00:00:00.000Z",
        "currency": "USD",
        "items": [item],
        "payment": {"provider": "cdnow", "provider_ref": f"ref-{number}", "date": f"{day}T00:00:00.000Z"},
        "dispatch": {"date": f"{day}T00:00:00.000Z", "courier": "post", "courierid": number},
        "delivery": {"date": f"{day}T00:00:00.000Z"},
    }
    return orjson.dumps(order) + b"\n"


def sums(rows: Iterator[Purchase], length: int) -> dict[str, list[int]]:
    """Orders, discs and cents by the first `length` characters of the day, added up without any database."""
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for purchase in rows:
        total = found[purchase.day[:length]]
        total[0] += 1
        total[1] += purchase.discs
        total[2] += purchase.cents
    return dict(found)


if __name__ == "__main__":
    every = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for found in purchases(Path(sys.argv[1]), every):
        sys.stdout.buffer.write(line(found))
