"""Makes the sample shop's past: some three hundred orders of twenty guests over eighteen months. All names are made up."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from deploy.local.shop.products import CURRENCY, SEED

ORDERS = 300
GUESTS = (
    ("Ada Winter", "4 Mill Lane\nYork YO1 7PR"),
    ("Tom Ashdown", "18 Harbour Street\nWhitby YO21 1DN"),
    ("Priya Raman", "Flat 2, 77 Queens Road\nLeicester LE2 1WQ"),
    ("Owen Prosser", "3 Heol Fawr\nCardiff CF14 7RB"),
    ("Grace Adeyemi", "21 Rye Lane\nLondon SE15 4TL"),
    ("Callum Reid", "9 Bank Street\nGlasgow G12 8LZ"),
    ("Hannah Brook", "Weir Cottage\nHebden Bridge HX7 8EN"),
    ("Daniel Okafor", "56 Deansgate\nManchester M3 2FW"),
    ("Zofia Nowak", "14 Ash Grove\nReading RG4 5BT"),
    ("Martin Fell", "30 Lake Road\nKeswick CA12 5DQ"),
    ("Aoife Brennan", "8 Ormeau Avenue\nBelfast BT2 8HD"),
    ("Samir Haddad", "102 Gloucester Road\nBristol BS7 8NN"),
    ("Lucy Tranter", "5 The Green\nLudlow SY8 1EW"),
    ("Ben Whitlock", "27 Fore Street\nTotnes TQ9 5HH"),
    ("Mei Tan", "61 Mill Road\nCambridge CB1 2AS"),
    ("Rob Galloway", "12 Shore\nEdinburgh EH6 6QN"),
    ("Nadia Rahman", "40 Stratford Road\nBirmingham B11 1AD"),
    ("Ewan Carr", "2 High Street\nHexham NE46 1LZ"),
    ("Isobel Marsh", "19 Elm Hill\nNorwich NR3 1HN"),
    ("Jack Penrose", "7 Chapel Terrace\nPenzance TR18 4AW"),
)
DAYS = 548
HOURS = (8, 9, 10, 11, 12, 12, 13, 14, 15, 16, 17, 18, 19, 19, 20, 20, 20, 21, 21, 22)
MONTHLY = {10: 1.2, 11: 1.8, 12: 2.4}
GUEST_WEIGHTS = [rank**-0.6 for rank in range(1, len(GUESTS) + 1)]
COURIERS = ("Moorland Parcels", "Pedal & Post")


def history(products: Sequence[dict], until: datetime) -> list[dict]:
    """Import lines, oldest first; the same ones for the same products and the same `until`."""
    dice = random.Random(f"{SEED} history")
    popularity = {product["productid"]: dice.paretovariate(1.2) for product in products}
    days = [until - timedelta(days=day) for day in range(DAYS, 3, -1)]
    weights = [_weight(day, place / len(days)) for place, day in enumerate(days)]
    moments = sorted(_moment(day, dice) for day in dice.choices(days, weights, k=ORDERS))
    return [
        _order(number, moment, products, popularity, dice) for number, moment in enumerate(moments, start=1)
    ]


def _weight(day: datetime, progress: float) -> float:
    """The shop grows, Saturdays are good, and Christmas is Christmas."""
    return (1 + progress) * MONTHLY.get(day.month, 1.0) * (1.4 if day.weekday() == 5 else 1.0)


def _moment(day: datetime, dice: random.Random) -> datetime:
    clock = {"hour": dice.choice(HOURS), "minute": dice.randrange(60), "second": dice.randrange(60)}
    return day.astimezone(UTC).replace(**clock, microsecond=0)


def _order(
    number: int, moment: datetime, products: Sequence[dict], popularity: dict[str, float], dice: random.Random
) -> dict:
    name, address = dice.choices(GUESTS, GUEST_WEIGHTS)[0]
    wanted = dice.choices(products, popularity.values(), k=dice.choice((1, 1, 1, 2, 2, 3, 4)))
    items = {product["productid"]: _item(product, dice.choice((1, 1, 1, 1, 2, 3))) for product in wanted}
    courier = {"courier": dice.choice(COURIERS), "courierid": f"AB{dice.randrange(10**9):09d}GB"}
    sent = moment + timedelta(hours=dice.randint(4, 40))
    return {
        "orderid": f"sample{number:04d}",
        "name": name,
        "email": f"{name.lower().replace(' ', '.')}@example.com",
        "deliveryAddress": address,
        "date": _text(moment),
        "currency": CURRENCY,
        "items": list(items.values()),
        "payment": {"provider": "sandbox", "provider_ref": f"sample{number:04d}", "date": _text(moment)},
        "dispatch": {**courier, "date": _text(sent)},
        "delivery": {**courier, "date": _text(sent + timedelta(hours=dice.randint(18, 40)))},
    }


def _item(product: dict, quantity: int) -> dict:
    return {
        "productid": product["productid"],
        "name": product["name"],
        "quantity": quantity,
        "unitPrice": product["price"],
        "cost": {"amount": product["cost_prices"][CURRENCY], "currency": CURRENCY},
    }


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
