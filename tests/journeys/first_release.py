"""A whole shop's databases as release 0.1.0 wrote them: its documents' shapes are written down here, for no code knows them any more."""

import hashlib
from collections.abc import Iterator
from typing import Any

from argon2 import PasswordHasher

from tests.people import ADDRESS, PASSWORD

COUNT = 300
"""Of products, customers and orders each."""
WRITTEN = "2026-01-{day:02}T10:00:00.000Z"
Doc = dict[str, Any]


def gbp(amount: int) -> Doc:
    return {"amount": amount, "currency": "GBP"}


def day(number: int) -> str:
    return WRITTEN.format(day=number % 28 + 1)


def taxonomy(number: int) -> list[str]:
    return ["Heirlooms", f"Shelf {number % 6}"]


def productid(number: int) -> str:
    return f"heirloom-{number:03}"


def email(number: int) -> str:
    return f"heir{number:03}@example.com"


def products() -> Iterator[Doc]:
    """Products of schema 1, with the chain of their stock, reviews, old prices and what orders reserved and bought."""
    for number in range(COUNT):
        name, levels, moment = productid(number), taxonomy(number), day(number)
        key = f"{'#'.join(levels)}:{name}"
        about = {"productid": name, "taxonomy": levels, "date": moment}
        rating = {"average": 4, "count": 1} if number % 3 == 0 else {"average": None, "count": 0}
        yield {
            "_id": key,
            "type": "product",
            "schema": 1,
            "taxonomy": levels,
            "keywords": ["keepsake"],
            "productid": name,
            "brand": "Grandfather",
            "name": f"Heirloom number {number}",
            "description": "It was always there.",
            "colours": ["brown"],
            "price": gbp(1000 + number),
            "delivery": gbp(300),
            "image": "",
            "stock": 48,
            "rating": rating,
            "rank": 1.5 if rating["count"] else 0,
            "edited": moment,
        }
        for slot, (delta, level, reason) in enumerate([(50, 50, "created"), (-2, 48, "reserved")], start=1):
            orderid = {} if reason == "created" else {"orderid": f"first{number:03}"}
            yield {
                "_id": f"{key}:stock:{slot:09}",
                "type": "movement",
                "schema": 1,
                **about,
                "slot": slot,
                "delta": delta,
                "level": level,
                "reason": reason,
                "mark": f"{reason} {name}",
                **orderid,
            }
        reserved = {**about, "schema": 1, "orderid": f"first{number:03}", "quantity": 2}
        place = f"{key}:order:first{number:03}"
        yield {**reserved, "_id": place, "type": "reservation", "expires": "2026-02-01T10:00:00.000Z"}
        yield {
            **reserved,
            "_id": f"{place}:settled",
            "type": "settlement",
            "outcome": "sold",
            "mark": f"m{number}",
        }
        if rating["count"]:
            said = {"userid": f"heir{number:03}", "stars": 4, "title": "Good", "text": "As ever."}
            yield {"_id": f"{key}:review:heir{number:03}", "type": "review", "schema": 1, **about, **said}
        if number % 5 == 0:
            changed = {"before": gbp(900), "after": gbp(1000 + number)}
            yield {"_id": f"{key}:price:{moment}", "type": "pricechange", "schema": 1, **about, **changed}


def users() -> Iterator[Doc]:
    """Customers who may log in, with an address, a basket, preferences and a payment method."""
    password = PasswordHasher().hash(PASSWORD)
    for number in range(COUNT):
        userid, moment = f"heir{number:03}", day(number)
        own = {"schema": 1, "userid": userid, "updated": moment}
        yield {
            **own,
            "_id": f"user{userid}:auth",
            "type": "user",
            "name": f"Heir {number}",
            "email": email(number),
            "password": password,
            "active": True,
            "email_verified": True,
            "roles": ["customer"],
            "created": moment,
        }
        digest = hashlib.sha256(email(number).encode()).hexdigest()
        claim = {"type": "claim", "schema": 1, "userid": userid, "claimed": moment}
        yield {"_id": f"email{digest}:claim", **claim}
        yield {
            **own,
            "_id": f"user{userid}:delivery1",
            "type": "userdelivery",
            "name": "Home",
            "address": ADDRESS,
            "default": True,
            "default_since": moment,
        }
        wanted = productid((number + 1) % COUNT)  # not what they bought: that would leave the basket
        line = {"productid": wanted, "quantity": 1}
        yield {**own, "_id": f"user{userid}:basket-{wanted}", "type": "basketline", **line}
        yield {
            **own,
            "_id": f"user{userid}:preferences",
            "type": "preferences",
            "values": {"newsletter": "no"},
        }
        card = {"provider": "sandbox", "reference": f"tok_{number}", "label": "Card"}
        yield {**own, "_id": f"user{userid}:payment1", "type": "paymentmethod", **card}


def orders() -> Iterator[Doc]:
    """Paid, sent and delivered, every fifth with a refund of schema 1."""
    for number in range(COUNT):
        orderid, placed, amount = f"first{number:03}", day(number), 1000 + number
        userid, prefix = f"heir{number:03}", f"order{orderid}:"
        order = {"schema": 1, "orderid": orderid, "userid": userid, "date": placed}
        event = {**order, "placed": placed, "currency": "GBP"}
        line = {
            "line": 1,
            "productid": productid(number),
            "taxonomy": taxonomy(number),
            "name": f"Heirloom number {number}",
            "quantity": 2,
            "unitPrice": gbp(amount),
            "delivery": gbp(600),
            "total": gbp(2 * amount),
        }
        total = gbp(2 * amount + 600)
        tax = {"name": "VAT", "basisPoints": 2000, "included": True, "total": gbp(total["amount"] // 6)}
        yield {
            **order,
            "_id": f"{prefix}order",
            "type": "order",
            "basket": [line],
            "goods": gbp(2 * amount),
            "delivery": gbp(600),
            "tax": tax,
            "total": total,
            "provider": "sandbox",
            "fingerprint": f"f{number}",
        }
        person = {"name": f"Heir {number}", "email": email(number), "deliveryAddress": ADDRESS}
        yield {
            "_id": f"{prefix}customer",
            "type": "customer",
            "schema": 1,
            "orderid": orderid,
            "userid": userid,
            **person,
        }
        yield {**order, "_id": f"{prefix}item1", "type": "item", **line}
        sold = {"productid": productid(number), "name": line["name"], "quantity": 2, "amount": 2 * amount}
        paid = {"paid": True, "provider": "sandbox", "provider_ref": f"p{number}", "total": total, "units": 2}
        yield {**event, "_id": f"{prefix}payment", "type": "payment", **paid, "lines": [sold], "sold": True}
        parcel = {"courier": "post", "courierid": f"c{number}"}
        yield {
            **event,
            "_id": f"{prefix}dispatch",
            "type": "dispatch",
            "dispatched": True,
            **parcel,
            "payment_date": placed,
        }
        yield {
            **event,
            "_id": f"{prefix}delivery",
            "type": "delivery",
            "delivered": True,
            **parcel,
            "dispatch_date": placed,
        }
        if number % 5 == 0:
            refund = {"number": 1, "total": gbp(100), "reason": "", "cause": "admin", "request": None}
            yield {**event, "_id": f"{prefix}refund1", "type": "refund", **refund}


DATABASES = {"products": products, "users": users, "orders": orders}
