"""An erased person is nowhere: a name is written wherever a customer can write one, then every document, revision, key of Redis, e-mail and log
is searched for it."""

import json
import secrets
import time
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from redis import Redis

from services.orders.documents import DESIGN as ORDERS
from services.orders.store.dead_letters import DeadLetterStore
from services.products.documents import DESIGN as PRODUCTS
from services.products.store.query_counts import SearchDays
from shared.clock import timestamp
from tests.bench.running import ADMIN_EMAIL, Shop, running_shop
from tests.maildir import read_mail
from tests.patience import patient
from tests.people import PASSWORD, Person, register
from tests.services.orders.easypost_standin import EasyPostStandIn, refusal
from tests.services.storefront.conftest import redis_url_of
from tests.waiting import GENEROUS_SECONDS, eventually

PLANTED = f"Zephyrine{secrets.token_hex(4)}"
OK = {"provider": "sandbox", "token": "tok_ok"}
PRODUCT = {
    "productid": "vase",
    "name": "Vase",
    "taxonomy": ["Home"],
    "keywords": [],
    "brand": "Oak & Co",
    "colours": [],
    "description": "",
    "price": {"amount": 1900, "currency": "GBP"},
    "delivery": {"amount": 0, "currency": "GBP"},
    "image": "",
    "stock": 100,
    "weight_grams": 700,
}
SOLD_OUT = {**PRODUCT, "productid": "jug", "name": "Jug", "stock": 0}
ADDRESS = {
    "name": PLANTED,
    "line1": f"{PLANTED} House",
    "city": "York",
    "postcode": "YO1 7PR",
    "country": "GB",
}


@pytest.fixture(scope="module")
def easypost() -> Iterator[EasyPostStandIn]:
    standin = EasyPostStandIn()
    yield standin
    standin.close()


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, easypost: EasyPostStandIn) -> Iterator[Shop]:
    settings = {
        "WEB_WORKERS": "1",
        "ACCESS_LOG": "true",
        "COURIER_DISPATCH_SECONDS": "3600",
        **easypost.label_settings,
        "SHOP_NAME": "Lamp & Book",
        "SHOP_ADDRESS": "9 Mill Lane; Leeds LS1 4DY",
    }
    with running_shop(tmp_path_factory.mktemp("erasure"), **settings) as running:
        yield running


@pytest.fixture(scope="module")
def admin(shop: Shop) -> Person:
    person = Person(shop.urls["users"], ADMIN_EMAIL, shop.admin_password)
    for product in (PRODUCT, SOLD_OUT):
        made = person.post(f"{shop.urls['products']}/v1/products", json=product, timeout=30)
        assert made.status_code == 201, made.text
    labels = {"country": "GB", "buy_return_labels": True}
    assert person.put(f"{shop.urls['orders']}/v1/admin/settings", json=labels, timeout=30).ok
    return person


def post(who: requests.Session, url: str, body: Any, status: int = 201, **headers: str) -> Any:
    headers = {"Idempotency-Key": secrets.token_hex(8), **headers}
    answer = who.post(url, json=body, headers=headers, timeout=30)
    assert answer.status_code == status, (url, answer.text)
    return answer.json() if answer.content else None


def order(shop: Shop, who: requests.Session, **more: Any) -> dict[str, Any]:
    body = {
        "items": [{"productid": "vase", "quantity": 2}],
        "address": f"{PLANTED}\n1 High Street\nLeeds LS1 4DY\nUnited Kingdom",
        "payment": OK,
        **more,
    }
    return post(who, f"{shop.urls['orders']}/v1/orders", body)


def write_everywhere(shop: Shop, admin: Person, customer: Person) -> None:
    """Everything of a person that has a text: account, address, orders, what they say of them, and what staff note."""
    users, products, orders = (shop.urls[name] for name in ("users", "products", "orders"))
    address = {"name": PLANTED, "address": f"{PLANTED}\n1 High Street\nLeeds LS1 4DY\nUnited Kingdom"}
    post(customer, f"{users}/v1/users/me/addresses", address)
    method = {"provider": "sandbox", "reference": f"pm_{PLANTED}", "label": PLANTED}
    post(customer, f"{users}/v1/users/me/payment-methods", method)
    cancelled = order(shop, customer)["orderid"]
    post(customer, f"{orders}/v1/orders/{cancelled}/cancellation", {"reason": f"I am {PLANTED}"})
    partly = order(shop, customer)["orderid"]
    items = [{"productid": "vase", "quantity": 1}]
    post(customer, f"{orders}/v1/orders/{partly}/cancellation", {"reason": PLANTED, "items": items})
    kept = order(shop, customer)["orderid"]
    courier = {"courier": "Bike", "courierid": "1"}
    post(admin, f"{orders}/v1/admin/orders/{kept}/dispatch", courier)
    post(admin, f"{orders}/v1/admin/orders/{kept}/delivery", {})
    returned = {"items": items, "reason": PLANTED, "note": f"{PLANTED} again"}
    back = post(customer, f"{orders}/v1/orders/{kept}/returns", returned)
    refusal = {"reason": f"Dear {PLANTED}, no."}
    post(admin, f"{orders}/v1/admin/orders/{kept}/returns/{back['number']}/refusal", refusal)
    post(admin, f"{orders}/v1/admin/orders/{kept}/notes", {"text": f"{PLANTED} called"})
    path = f"{users}/v1/admin/customers/{customer.userid}"
    post(admin, f"{path}/notes", {"text": f"{PLANTED} likes tea"})
    post(admin, f"{path}/emails", {"kind": "new-password"})
    assert PLANTED in str(post(admin, f"{path}/export", {}, 200)["documents"])
    refund = {"amount": {"amount": 100, "currency": "GBP"}, "reason": f"{PLANTED} asked"}
    post(admin, f"{orders}/v1/admin/orders/{kept}/refunds", refund | {"to": "store_credit"})
    review = {"stars": 5, "title": PLANTED, "text": f"{PLANTED} likes it"}
    post(customer, f"{products}/v1/products/vase/reviews", review)
    for path in ("_changes", "_local/phone"):
        checkpoint = {"json": {"device": PLANTED}} if path != "_changes" else {}
        method = "PUT" if checkpoint else "GET"
        synced = customer.request(method, f"{users}/v1/users/me/sync/{path}", timeout=30, **checkpoint)
        assert synced.ok, synced.text
    shown = requests.get(f"{products}/v1/products/vase?reviews=5", timeout=30)
    assert shown.ok, shown.text
    guest = order(shop, requests.Session(), email=customer.email.upper(), name=PLANTED)
    post(admin, f"{orders}/v1/admin/orders/{guest['orderid']}/notes", {"text": f"{PLANTED} was a guest"})
    asked = {"email": customer.email}
    assert PLANTED in str(post(admin, f"{orders}/v1/admin/guests/export", asked, 200))


def write_after_sale(shop: Shop, admin: Person, customer: Person, easypost: EasyPostStandIn) -> None:
    """What staff write down for a person, what leaves the shop for one, and what goes wrong on the way."""
    users, orders = shop.urls["users"], shop.urls["orders"]
    items = [{"productid": "vase", "quantity": 1}]
    draft = {"items": items, "address": ADDRESS, "note": f"{PLANTED} phoned"}
    post(admin, f"{orders}/v1/admin/drafts", {**draft, "userid": customer.userid})
    guest = {**draft, "email": customer.email.title(), "name": PLANTED}
    placed = post(admin, f"{orders}/v1/admin/drafts", guest)["id"]
    post(admin, f"{orders}/v1/admin/drafts/{placed}/order", {"payment": {"kind": "cash"}})
    sale = {
        "items": [{**items[0], "price": PRODUCT["price"], "name": "Vase", "taxonomy": ["Home"]}],
        "total": PRODUCT["price"],
        "payment": {"kind": "cash"},
        "stall": "Market Square",
        "sold_at": timestamp(),
        "sold_by": "seller-1",
        "email": customer.email,
        "name": PLANTED,
    }
    sold = post(admin, f"{orders}/v1/admin/stall/sales", sale)["orderid"]
    dead_letters = DeadLetterStore(shop.server.open(ORDERS))
    wrong = {"error": "payment_error", "detail": f"The provider says: {PLANTED} is unknown"}
    dead_letters.add("orders.advance", sold, 1, transient=False, **wrong)
    easypost.break_(refusal(422, "ADDRESS.VERIFY.FAILURE", f"Unable to verify {PLANTED} House."))
    refused = sent_back(shop, admin, customer)
    eventually(lambda: "labelproblem" in types_of(shop, refused))
    easypost.heal()
    bought = sent_back(shop, admin, customer)
    eventually(lambda: "returnlabel" in types_of(shop, bought))
    line = {
        "orderid": "imported1",
        "date": "2019-03-04T10:00:00Z",
        "currency": "GBP",
        "items": [{**items[0], "name": "Vase", "unitPrice": PRODUCT["price"]}],
        "name": PLANTED,
        "email": customer.email,
        "payment": {"provider": "till", "provider_ref": "t1", "date": "2019-03-04T11:00:00Z"},
    }
    lines = (line, {**line, "orderid": "imported2", "date": PLANTED})
    imported = file_sent(admin, f"{orders}/v1/admin/orders/import", lines)
    assert (imported["created"], len(imported["failed"])) == (1, 1), imported
    people = ({"email": customer.email, "name": PLANTED}, {"email": PLANTED, "name": PLANTED})
    file_sent(admin, f"{users}/v1/admin/customers/import?id=file1", people)
    assert customer.put(f"{users}/v1/users/me/wishes/vase", json={}, timeout=30).ok
    for who in (customer, requests.Session()):
        post(who, f"{users}/v1/users/stock-alerts", {"sku": "jug", "email": customer.email}, 202)
    pushed = {"docs": [{"_id": "address-1", "type": "address", "name": PLANTED, "address": PLANTED}]}
    post(customer, f"{users}/v1/users/me/sync/_bulk_docs", pushed)


def search_for_oneself(shop: Shop, customer: Person) -> None:
    """Counted in Redis a second later, and in a day's document when the worker adds it up."""
    days = SearchDays(shop.server.open(PRODUCTS))
    days.add("2026-11-01", "an earlier flush", {f"{PLANTED.lower()} vase": [1, 0, 1], "vase": [9, 1, 5]})
    query = {"q": f"{PLANTED} jug"}
    found = patient(lambda: customer.get(f"{shop.urls['products']}/v1/products", params=query, timeout=30))
    assert found.ok, found.text
    counted = f"{PLANTED.lower()} jug"
    eventually(
        lambda: (
            any(counted in text for _, text in in_redis(shop))
            or any(counted in str(day) for day in days.all())
        )
    )


def sent_back(shop: Shop, admin: Person, customer: Person) -> str:
    """An order of which a piece comes back: approved, so that a label is bought for it by the worker."""
    orders = shop.urls["orders"]
    orderid = order(shop, customer, address=ADDRESS)["orderid"]
    post(admin, f"{orders}/v1/admin/orders/{orderid}/dispatch", {"courier": "Bike", "courierid": "1"})
    post(admin, f"{orders}/v1/admin/orders/{orderid}/delivery", {})
    wanted = {"productid": "vase", "quantity": 1}
    back = {"items": [wanted], "reason": f"{PLANTED} wants blue", "note": PLANTED}
    post(customer, f"{orders}/v1/orders/{orderid}/returns", back)
    post(admin, f"{orders}/v1/admin/orders/{orderid}/returns/1/approval", {})
    return orderid


def types_of(shop: Shop, orderid: str) -> list[str]:
    """Of an order's documents."""
    return [doc["type"] for doc in shop.server.open(ORDERS).partition(f"order{orderid}").all()]


def file_sent(admin: Person, url: str, lines: tuple[dict[str, Any], ...]) -> Any:
    headers = {"Content-Type": "application/x-ndjson"}
    data = "".join(json.dumps(line) + "\n" for line in lines)
    answer = admin.post(url, data=data, headers=headers, timeout=60)
    assert answer.ok, answer.text
    return answer.json()


def stored(shop: Shop) -> Iterator[tuple[str, str]]:
    """(where, text) of every document in every database, those that are deleted too, in every revision that is still to be read."""
    call = shop.server.client.call
    for db in call("get_all_dbs"):
        if not db.startswith(shop.server.prefix):
            continue
        for row in call("post_changes", db=db, style="all_docs")["results"]:
            for change in row["changes"] if not row["id"].startswith("_design/") else ():
                known = {"db": db, "doc_id": row["id"]}
                doc = call("get_document", **known, rev=change["rev"], revs_info=True)
                yield f"{db} {row['id']}", str(doc)
                for each in doc.get("_revs_info", []):
                    if each["status"] == "available" and each["rev"] != change["rev"]:
                        yield (
                            f"{db} {row['id']} {each['rev']}",
                            str(call("get_document", **known, rev=each["rev"])),
                        )


def in_redis(shop: Shop) -> Iterator[tuple[str, str]]:
    redis = Redis.from_url(redis_url_of(shop))
    read = {
        b"string": redis.get,
        b"hash": redis.hgetall,
        b"list": lambda key: redis.lrange(key, 0, -1),
        b"set": redis.smembers,
        b"zset": lambda key: redis.zrange(key, 0, -1),
        b"stream": redis.xrange,
        b"none": lambda key: None,  # it went meanwhile
    }
    for key in redis.scan_iter(count=1000):
        yield f"redis {key!r}", repr(read[redis.type(key)](key)) + repr(key)


def in_logs(shop: Shop) -> Iterator[tuple[str, str]]:
    for path in [shop.state / "log", *shop.state.rglob("*.log")]:
        if path.is_file():
            yield f"log {path.name}", path.read_text(errors="replace")


def traces(shop: Shop, *names: str) -> list[str]:
    places = (*stored(shop), *in_redis(shop), *in_logs(shop))
    return [where for where, text in places if any(name in text for name in names)]


def test_the_search_finds_what_is_there_and_nothing_after_an_erasure(
    shop: Shop, admin: Person, easypost: EasyPostStandIn
) -> None:
    customer = register(shop.urls["users"], shop.state / "mail", PLANTED)
    write_everywhere(shop, admin, customer)
    write_after_sale(shop, admin, customer, easypost)
    search_for_oneself(shop, customer)
    before = traces(shop, PLANTED, customer.email)
    kinds = {where.split()[0].removeprefix(shop.server.prefix) for where in before}
    assert {"users", "products", "orders"} <= kinds
    assert len(before) > 15, before
    assert customer.delete(f"{shop.urls['users']}/v1/users/me", timeout=60).status_code == 204
    names = (PLANTED, PLANTED.lower(), customer.email, customer.email.upper())
    left = [*traces(shop, *names)]
    deadline = time.monotonic() + GENEROUS_SECONDS
    while left and time.monotonic() < deadline:
        time.sleep(1)
        left = traces(shop, *names)
    assert left == []
    everything = [each.text + str(each.to) for each in read_mail(shop.state / "mail", "") if each]
    assert all(customer.email in each.lower() for each in everything if PLANTED in each), (
        "what was sent to the person is in their own mailbox"
    )


def test_a_guest_is_erased_by_an_admin_and_by_nobody_whose_address_is_not_verified(
    shop: Shop, admin: Person
) -> None:
    victim = f"{secrets.token_hex(6)}@example.com"
    guest = order(shop, requests.Session(), email=victim, name="A guest")
    robber = register(shop.urls["users"], shop.state / "mail", "A robber")
    changes = {"email": victim, "current_password": PASSWORD}
    assert robber.patch(f"{shop.urls['users']}/v1/users/me", json=changes, timeout=30).ok
    assert robber.delete(f"{shop.urls['users']}/v1/users/me", timeout=60).status_code == 204
    listed = admin.get(f"{shop.urls['orders']}/v1/orders/{guest['orderid']}", timeout=30).json()
    assert "1 High Street" in str(listed)
    asked = {"email": victim.upper()}
    assert post(admin, f"{shop.urls['orders']}/v1/admin/guests/erasure", asked, 200) == {"orders": 1}
    assert post(admin, f"{shop.urls['orders']}/v1/admin/guests/erasure", asked, 200) == {"orders": 0}
    listed = admin.get(f"{shop.urls['orders']}/v1/orders/{guest['orderid']}", timeout=30).json()
    assert "1 High Street" not in str(listed)
