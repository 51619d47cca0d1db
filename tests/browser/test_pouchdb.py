"""PouchDB as npm has it, in Chromium, on a page without a script of ours: what it syncs with is the shop's database of a customer, on whatever
server COUCH_URL names."""

import base64
import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page

from tests.browser.conftest import log_in, register
from tests.browser.offline_device import BASKET_OF_THE_SHOP, admin, peg, sell, without_network
from tests.people import PASSWORD
from tests.waiting import eventually

__all__ = ["admin", "peg", "sell"]

Visit = Callable[..., Page]
NO_POINT = ["a status of 404"]
"""PouchDB alone asks whose server this is, and for a checkpoint that is not there yet."""
LIVE = """async () => {
  const { csrf } = await (await fetch('/device')).json();
  const remote = (path) => new PouchDB(`${location.origin}${path}`, {
    skip_setup: true,
    fetch: (address, options) => { options.headers.set('X-CSRF-Token', csrf); return PouchDB.fetch(address, options); },
  });
  globalThis.denied = [];
  globalThis.mine = new PouchDB('mine');
  mine.sync(remote('/device/sync/'), { live: true, retry: true, back_off_function: () => 300 }).on('denied', ({ doc }) => denied.push(doc));
  globalThis.pull = async (path) => {
    const kept = new PouchDB('kept');
    const { docs_written } = await kept.replicate.from(remote(path), { checkpoint: 'target' });
    return { written: docs_written, ids: (await kept.allDocs()).rows.map(({ id }) => id) };
  };
}"""
PUT = "async (doc) => { const { _rev } = await mine.get(doc._id).catch(() => ({})); await mine.put(_rev ? { ...doc, _rev } : doc); }"
REMOVE = "async (id) => mine.remove(await mine.get(id))"
ALL = "async () => (await mine.allDocs({ include_docs: true, conflicts: true })).rows.map(({ doc }) => doc)"
PLACE = {"type": "userdelivery", "line1": "1 High Street", "city": "Leeds", "postcode": "LS1 4DY"}


def live(page: Page) -> Page:
    """A page that loads nothing but the database, which syncs from now on in both directions."""
    page.goto("/")
    found = re.search(r"/assets/[0-9a-f]+/", page.content())
    assert found
    page.goto("/device")
    page.add_script_tag(url=f"{found[0]}installed/pouchdb.min.js")
    page.evaluate(LIVE)
    return page


def documents(page: Page) -> dict[str, dict[str, Any]]:
    return {doc["_id"]: doc for doc in page.evaluate(ALL)}


def quantities(page: Page) -> dict[str, int]:
    docs = documents(page)
    return {doc["productid"]: doc["quantity"] for docid, doc in docs.items() if docid.startswith("basket-")}


def line(productid: str, quantity: int) -> dict[str, Any]:
    return {"_id": f"basket-{productid}", "type": "basketline", "productid": productid, "quantity": quantity}


def test_two_devices_sync_live_and_converge_after_edits_without_a_network(
    visit: Visit, peg: str, sell: Callable[[str, int], None]
) -> None:
    names = [peg, f"{peg}-b", f"{peg}-c"]
    for name in names[1:]:
        sell(name, 800)
    phone, laptop = visit(worker=True, expects=NO_POINT), visit(worker=True, expects=NO_POINT)
    email = register(phone, "Paula Couch")
    log_in(laptop, email, PASSWORD)
    for each in (phone, laptop):
        live(each)
    phone.evaluate(PUT, line(peg, 2))
    eventually(lambda: quantities(laptop) == {peg: 2})
    laptop.evaluate(PUT, line(names[2], 1))
    eventually(lambda: quantities(phone) == {peg: 2, names[2]: 1})
    with without_network(phone), without_network(laptop):
        phone.evaluate(PUT, line(peg, 5))
        laptop.evaluate(PUT, line(peg, 3))
        phone.evaluate(PUT, line(names[1], 4))
        laptop.evaluate(REMOVE, f"basket-{names[2]}")
        phone.evaluate(
            PUT, {"_id": "deliveryphone001", "name": "Paula", "country": "GB", "default": True, **PLACE}
        )
        laptop.evaluate(
            PUT, {"_id": "deliverylaptop01", "name": "Paul", "country": "GB", "default": True, **PLACE}
        )
        laptop.evaluate(PUT, {"_id": f"wish-{names[1]}", "type": "wish", "productid": names[1]})
        phone.evaluate(PUT, {"_id": "order-01h0000000", "type": "order", "total": 0})
    expected = {peg: 5, names[1]: 4}
    eventually(lambda: quantities(phone) == quantities(laptop) == expected)
    eventually(lambda: {k: v for k, v in documents(phone).items() if k[:6] != "order-"} == documents(laptop))
    docs = documents(laptop)
    assert not [docid for docid, doc in docs.items() if "_conflicts" in doc]
    assert len([docid for docid, doc in docs.items() if doc.get("default")]) == 1
    assert f"wish-{names[1]}" in docs
    assert sorted(laptop.evaluate(BASKET_OF_THE_SHOP)) == sorted(expected)
    [denied] = phone.evaluate("() => denied")
    assert (denied["id"], denied["name"]) == ("order-01h0000000", "forbidden")
    assert laptop.evaluate("() => denied") == []


def test_a_category_is_pulled_and_not_written(visit: Visit, peg: str) -> None:
    page = visit(worker=True, expects=NO_POINT)
    register(page, "Peter Couch")
    live(page)
    key = base64.urlsafe_b64encode(b"Garden#Tent pegs").decode().rstrip("=")
    first = page.evaluate("(path) => pull(path)", f"/device/kept/{key}/")
    assert {"category", f"product-{peg}"} <= set(first["ids"])
    again = page.evaluate("(path) => pull(path)", f"/device/kept/{key}/")
    assert (again["written"], again["ids"]) == (0, first["ids"])
