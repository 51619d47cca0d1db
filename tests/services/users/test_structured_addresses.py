"""Addresses in parts: checked by their country's rules; texts and addresses of the last version go on working."""

from services.users.documents import DESIGN
from shared.clock import timestamp

PATH = "/v1/users/me/addresses"
BATH = {"name": "Ada", "line1": "1 High Street", "city": "Bath", "postcode": "ba1 1aa", "country": "GB"}
BREMEN = {"name": "Ada", "line1": "Am Markt 1", "city": "Bremen", "postcode": "28195", "country": "DE"}


def test_parts_are_kept_checked_and_shown_with_their_label(person):
    ann = person()
    answer = ann.post(PATH, BATH | {"phone": "+44 1225 000000"})
    assert answer.status_code == 201, answer.text
    found = answer.json()
    assert (found["postcode"], found["phone"]) == ("BA1 1AA", "+44 1225 000000")
    assert found["address"] == "1 High Street\nBath\nBA1 1AA\nUnited Kingdom"
    wrong = ann.post(PATH, BREMEN | {"postcode": "BA1 1AA"})
    assert (wrong.status_code, list(wrong.json()["errors"])) == (422, ["postcode"])
    missing = ann.post(PATH, {"name": "Ada"})
    assert (missing.status_code, list(missing.json()["errors"])) == (422, ["address"])


def test_a_change_is_checked_with_what_stays(person):
    ann = person()
    made = ann.post(PATH, BATH).json()
    moved = ann.patch(f"{PATH}/{made['id']}", {"line1": "2 High Street"}).json()
    assert moved["address"] == "2 High Street\nBath\nBA1 1AA\nUnited Kingdom"
    wrong = ann.patch(f"{PATH}/{made['id']}", {"country": "DE"})
    assert (wrong.status_code, list(wrong.json()["errors"])) == (422, ["postcode"])
    text = ann.patch(f"{PATH}/{made['id']}", {"address": "3 Mill Lane\nYork YO1 7PR"}).json()
    assert (text["line1"], text["city"], text["postcode"], text["country"]) == (
        "3 Mill Lane",
        "York",
        "YO1 7PR",
        "",
    )
    named = ann.patch(f"{PATH}/{made['id']}", {"name": "Home"}).json()
    assert (named["name"], named["address"]) == ("Home", "3 Mill Lane\nYork YO1 7PR")


def test_a_text_is_taken_as_before_and_its_parts_are_told(person):
    ann = person()
    found = ann.post(PATH, {"name": "Home", "address": "1 Mill Lane\nYork YO1 7PR"}).json()
    assert found["address"] == "1 Mill Lane\nYork YO1 7PR"
    assert (found["line1"], found["city"], found["postcode"]) == ("1 Mill Lane", "York", "YO1 7PR")
    assert found["country"] == ""


def test_addresses_of_the_last_version_are_read_and_migrated(person, server, database):
    """Documents as version 0.1 wrote them: schema 1, one text."""
    ann = person()
    userid = ann.get("/v1/users/me").json()["userid"]
    old = {
        "_id": f"user{userid}:deliveryold",
        "type": "userdelivery",
        "schema": 1,
        "userid": userid,
        "name": "Home",
        "address": "1 Mill Lane\nYork YO1 7PR",
        "default": True,
        "default_since": timestamp(),
        "updated": timestamp(),
    }
    raw = server.client
    raw.call("post_document", db=database.name, document=old)
    for stored in (1, 2):
        (found,) = ann.get(PATH).json()["items"]
        assert (found["line1"], found["city"], found["postcode"]) == ("1 Mill Lane", "York", "YO1 7PR")
        assert (found["address"], found["default"]) == (old["address"], True)
        assert raw.call("get_document", db=database.name, doc_id=old["_id"])["schema"] == stored
        server.migrate([DESIGN], progress=print)
    kept = raw.call("get_document", db=database.name, doc_id=old["_id"])
    assert (kept["city"], kept["postcode"]) == ("York", "YO1 7PR")
