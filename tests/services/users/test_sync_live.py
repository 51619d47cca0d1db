"""Devices that wait for changes, sessions that end meanwhile, and what requests cost."""

from concurrent.futures import ThreadPoolExecutor

from tests.services.users.conftest import Api, calls, log_in
from tests.services.users.sync_devices import (
    SYNC,
    changes,
    edited,
    goods,
    line,
    longpoll,
    made,
    products,
    users_url,
)

__all__ = ["goods", "products", "users_url"]


def test_an_ended_session_writes_nothing_more(person, goods):
    ann = person()
    other = log_in(Api(ann.base), ann.email)
    mine = made(f"wish-{goods[4]}", type="wish", productid=goods[4])
    assert other.delete("/v1/sessions").status_code == 204
    answer = other.post(f"{SYNC}/_bulk_docs", {"docs": [mine], "new_edits": False})
    assert (answer.status_code, answer.json()["error"]) == (401, "unauthorized")
    assert ann.get("/v1/users/me/wishes").json()["items"] == []


def test_devices_that_wait_hold_no_thread_and_hear_of_what_changes(person, goods):
    """Twenty wait at a service that has eight threads; all of them are answered when a line is changed, and others meanwhile."""
    ann = person()
    since = changes(ann)["last_seq"]
    with ThreadPoolExecutor(20) as pool:
        waiting = [pool.submit(longpoll, ann, since) for _ in range(20)]
        assert person().get(f"{SYNC}/").status_code == 200
        assert not any(each.done() for each in waiting)
        assert ann.put(f"/v1/users/me/basket/{goods[0]}", {"quantity": 3}).status_code == 200
        heard = [each.result() for each in waiting]
    assert [[row["id"] for row in each["results"]] for each in heard] == [[f"basket-{goods[0]}"]] * 20


def test_a_device_waits_no_longer_than_it_asks_for_and_nobody_waits_for_what_is_there(person):
    ann = person()
    since = changes(ann)["last_seq"]
    told = longpoll(ann, since, timeout=1)
    assert (told["results"], told["last_seq"]) == ([], since)
    assert len(longpoll(ann, "0")["results"]) == 2


def test_what_each_request_costs(person, goods):
    ann = person()
    ann.put(f"/v1/users/me/basket/{goods[0]}", {"quantity": 1})
    since = changes(ann)["last_seq"]
    pulled = ann.get(f"{SYNC}/_changes", params={"since": since})
    assert calls(pulled) == {"partition": 1, "global": 0, "read": 0, "write": 0}
    known = line(ann, goods[0])
    fetched = ann.post(f"{SYNC}/_bulk_get", {"docs": [{"id": known["_id"], "rev": known["_rev"]}]})
    assert calls(fetched) == {"partition": 1, "global": 0, "read": 0, "write": 0}
    pushed = ann.post(f"{SYNC}/_bulk_docs", {"docs": [edited(known, quantity=3)], "new_edits": False})
    assert calls(pushed) == {"partition": 1, "global": 0, "read": 2, "write": 2}
    assert calls(ann.get(SYNC)) == {"partition": 0, "global": 0, "read": 1, "write": 0}
