"""PouchDB, unchanged, syncs a customer's data in both directions."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.waiting import eventually

pytestmark = pytest.mark.sync

ADDRESS = {
    "name": "Ann Doe",
    "line1": "1 High Street",
    "city": "Leeds",
    "postcode": "LS1 4DY",
    "country": "GB",
}


def basket(person):
    return {item["productid"]: item["quantity"] for item in person.get("/v1/users/me/basket").json()["items"]}


def lines(device):
    docs = device.documents()
    return {doc["productid"]: doc["quantity"] for docid, doc in docs.items() if docid.startswith("basket-")}


def put_line(device, name, quantity):
    device.put(f"basket-{name}", type="basketline", productid=name, quantity=quantity)


def unsettled(device):
    return [docid for docid, doc in device.documents().items() if "_conflicts" in doc]


def test_two_devices_edit_without_a_network_and_converge(person, goods, device):
    ann = person(name="Ann")
    phone, laptop = device(ann), device(ann)
    put_line(phone, goods[0], 2)
    assert phone.sync()["push"] == {"ok": True, "read": 1, "written": 1, "failures": 0}
    assert laptop.sync()["pull"]["written"] == 3
    put_line(phone, goods[0], 5)
    put_line(phone, goods[1], 1)
    phone.put("profile", name="Ann Doe")
    phone.put("deliveryphone001", type="userdelivery", **ADDRESS, default=True)
    put_line(laptop, goods[0], 3)
    put_line(laptop, goods[2], 4)
    laptop.put("deliverylaptop01", type="userdelivery", **ADDRESS, default=True)
    laptop.put("preferences", language="de")
    for each in (phone, laptop, phone, laptop):
        assert each.sync()["denied"] == []
    assert basket(ann) == lines(phone) == lines(laptop) == {goods[0]: 5, goods[1]: 1, goods[2]: 4}
    assert phone.documents() == laptop.documents()
    assert unsettled(phone) == unsettled(laptop) == []
    defaults = [doc["_id"] for doc in phone.documents().values() if doc.get("default")]
    assert defaults == ["deliverylaptop01"]
    me = ann.get("/v1/users/me").json()
    assert (me["name"], me["preferences"]["language"]) == ("Ann Doe", "de")
    ann.delete(f"/v1/users/me/basket/{goods[0]}")
    laptop.act("remove", id=f"basket-{goods[1]}")
    for each in (laptop, phone):
        each.sync()
    assert basket(ann) == lines(phone) == lines(laptop) == {goods[2]: 4}
    assert phone.sync() == phone.sync(), "nothing is left to say"


def test_what_is_refused_is_denied_with_its_reason_and_the_rest_goes_through(person, goods, device):
    ann = person()
    phone = device(ann)
    phone.sync()
    put_line(phone, "no-such-thing", 1)
    put_line(phone, goods[0], 2)
    phone.put("profile", roles=["admin"])
    phone.put("order-01h0000000", type="order", total=0)
    phone.put("anything", type="unknown")
    done = phone.sync()
    denied = {each["id"]: each for each in done["denied"]}
    assert denied.keys() == {"basket-no-such-thing", "profile", "order-01h0000000", "anything"}
    assert {each["name"] for each in denied.values()} == {"forbidden"}
    assert denied["basket-no-such-thing"]["reason"] == "The shop does not sell it (any more)."
    assert basket(ann) == {goods[0]: 2}
    assert ann.get("/v1/users/me").json()["roles"] == ["customer"]


def test_batches_of_ten(person, goods, device):
    ann = person()
    phone, laptop = device(ann), device(ann)
    for number, name in enumerate(goods, 1):
        put_line(phone, name, number)
    assert phone.sync(batch_size=10, batches_limit=2)["push"]["written"] == len(goods)
    assert laptop.sync(batch_size=10)["pull"]["written"] == len(goods) + 2
    assert basket(ann) == lines(phone) == lines(laptop)


def test_live_devices_hear_of_each_other(person, goods, device):
    ann = person()
    phone, laptop = device(ann), device(ann)
    for each in (phone, laptop):
        each.act("live", options={})
    put_line(phone, goods[0], 3)
    eventually(lambda: lines(laptop) == {goods[0]: 3})
    put_line(laptop, goods[0], 4)
    eventually(lambda: lines(phone) == {goods[0]: 4} == basket(ann))
    ann.put(f"/v1/users/me/basket/{goods[1]}", {"quantity": 1})
    eventually(lambda: lines(phone) == lines(laptop) == {goods[0]: 4, goods[1]: 1})
    for each in (phone, laptop):
        heard = each.act("heard")
        assert (heard["denied"], heard["errors"]) == ([], [])
        each.act("stop")


def test_a_service_that_is_killed_in_the_middle_of_pushes_loses_and_doubles_nothing(
    users, person, goods, device
):
    ann = person()
    phone = device(ann)
    phone.sync()
    for round_ in range(1, 5):
        for name in goods:
            put_line(phone, name, round_ * 10)
        phone.put(f"deliveryround{round_:03}", type="userdelivery", **ADDRESS, default=False)
        phone.begin("sync", options={"batch_size": 5})
        time.sleep(0.1 * round_)
        users.kill()
        phone.end()
        users.start()
    for _ in range(2):
        assert phone.sync()["denied"] == []
    laptop = device(ann)
    laptop.sync()
    assert basket(ann) == lines(phone) == lines(laptop) == dict.fromkeys(goods, 40)
    assert len(ann.get("/v1/users/me/addresses").json()["items"]) == 4
    assert unsettled(phone) == unsettled(laptop) == []


def test_an_ended_session_ends_the_sync(person, goods, device):
    ann = person()
    phone = device(ann)
    phone.sync()
    put_line(phone, goods[0], 1)
    assert ann.delete("/v1/sessions").status_code == 204
    ended = phone.sync()
    assert (ended["error"], ended["status"]) == ("unauthorized", 401)
    assert lines(phone) == {goods[0]: 1}, "what was not pushed is kept on the device"


def test_devices_of_many_customers_sync_at_once(person, goods, device):
    people = [person() for _ in range(4)]
    owners = [each for each in people for _ in range(2)]
    devices = [device(owner) for owner in owners]
    for number, each in enumerate(devices):
        put_line(each, goods[number], number + 1)
    with ThreadPoolExecutor(len(devices)) as pool:
        for _ in range(2):
            assert all(done["denied"] == [] for done in pool.map(lambda each: each.sync(), devices))
    for number, owner in enumerate(people):
        two = {goods[each]: each + 1 for each in (2 * number, 2 * number + 1)}
        assert basket(owner) == lines(devices[2 * number]) == lines(devices[2 * number + 1]) == two
