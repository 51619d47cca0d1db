"""Addresses: one default whatever happens, and only one's own."""

from concurrent.futures import ThreadPoolExecutor

from redis import Redis

from services.users.rules.accounts import MAX_ADDRESSES, MAX_PAYMENT_METHODS, default_address
from tests.services.users.conftest import calls

PATH = "/v1/users/me/addresses"


def add(person, name, **more):
    answer = person.post(PATH, {"name": name, "address": f"{name} street 1", **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


def defaults(person):
    items = person.get(PATH).json()["items"]
    return [item["name"] for item in items if item["default"]]


def test_the_first_is_the_default_till_another_is_chosen(person):
    ann = person()
    home = add(ann, "home")
    assert home["default"]
    work = add(ann, "work")
    assert not work["default"]
    assert defaults(ann) == ["home"]
    assert ann.patch(f"{PATH}/{work['id']}", {"default": True}).json()["default"]
    assert defaults(ann) == ["work"]
    add(ann, "cabin", default=True)
    assert defaults(ann) == ["cabin"]


def test_removing_the_default_leaves_one_default(person, holds):
    ann = person()
    ids = {name: add(ann, name)["id"] for name in ("a", "b", "c")}
    for name in ("a", "b"):
        assert ann.delete(f"{PATH}/{ids[name]}").status_code == 204
        holds(lambda: len(defaults(ann)) == 1)
    assert ann.delete(f"{PATH}/{ids['c']}").status_code == 204
    holds(lambda: ann.get(PATH).json() == {"items": [], "next": None})


def test_racing_writers_leave_exactly_one_default(person):
    ann = person()
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda number: add(ann, f"n{number}", default=True), range(8)))
        assert len(defaults(ann)) == 1
        list(pool.map(lambda item: ann.patch(f"{PATH}/{item['id']}", {"default": True}), made))
        list(pool.map(lambda item: ann.delete(f"{PATH}/{item['id']}"), made[:4]))
    assert len(defaults(ann)) == 1
    assert len(ann.get(PATH).json()["items"]) == 4


def test_the_default_cannot_be_taken_away_only_moved(person):
    ann = person()
    home = add(ann, "home")
    answer = ann.patch(f"{PATH}/{home['id']}", {"default": False})
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["default"])


def test_somebody_elses_address_is_404(person):
    ann, bob = person(), person()
    home = add(ann, "home")
    assert bob.get(f"{PATH}/{home['id']}").status_code == 404
    assert bob.patch(f"{PATH}/{home['id']}", {"name": "mine"}).status_code == 404
    assert bob.delete(f"{PATH}/{home['id']}").status_code == 404
    assert ann.get(f"{PATH}/{home['id']}").json()["name"] == "home"


def test_an_update_needs_the_version_it_was_made_for(person):
    ann = person()
    path = f"{PATH}/{add(ann, 'home')['id']}"
    etag = ann.get(path).headers["ETag"]
    assert ann.patch(path, {"name": "one"}, headers={"If-Match": etag}).status_code == 200
    stale = ann.patch(path, {"name": "two"}, headers={"If-Match": etag})
    assert (stale.status_code, stale.json()["code"]) == (412, "precondition_failed")


def test_addresses_and_payment_methods_are_listed_oldest_first_whatever_their_keys(person):
    ann = person()
    names = [f"n{number}" for number in range(8)]
    for name in names:
        key = {"Idempotency-Key": f"{name} of {ann.userid}"}
        assert ann.post(PATH, {"name": name, "address": "1 street"}, headers=key).status_code == 201
        method = {"provider": "sandbox", "reference": name}
        assert ann.post("/v1/users/me/payment-methods", method, headers=key).status_code == 201
    me = ann.get("/v1/users/me").json()
    assert [each["name"] for each in ann.get(PATH).json()["items"]] == names
    assert [each["name"] for each in me["addresses"]] == names
    methods = ann.get("/v1/users/me/payment-methods").json()["items"]
    assert [each["reference"] for each in methods] == names
    assert [each["reference"] for each in me["payment_methods"]] == names


def test_one_idempotency_key_makes_one_address_even_at_once(person):
    ann = person()
    body, headers = {"name": "home", "address": "1 street"}, {"Idempotency-Key": "the same"}
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: ann.post(PATH, body, headers=headers), range(6)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.text for answer in answers}) == 1
    assert len(ann.get(PATH).json()["items"]) == 1


def test_a_lost_answer_does_not_make_a_second_address(person, redis_url):
    """Redis forgets the key (or the process died before it was kept): the document's id still comes from the key."""
    ann = person()
    body, headers = {"name": "home", "address": "1 street"}, {"Idempotency-Key": "lost"}
    first = ann.post(PATH, body, headers=headers).json()
    Redis.from_url(redis_url).flushdb()
    assert ann.post(PATH, body, headers=headers).json() == first
    assert len(ann.get(PATH).json()["items"]) == 1


def test_a_lost_answer_is_given_again_when_it_was_the_last_place(person, redis_url):
    ann = person()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: add(ann, f"home {number}"), range(MAX_ADDRESSES - 1)))
    body, headers = {"name": "last", "address": "1 street"}, {"Idempotency-Key": "last"}
    first = ann.post(PATH, body, headers=headers).json()
    Redis.from_url(redis_url).flushdb()
    again = ann.post(PATH, body, headers=headers)
    assert (again.status_code, again.json()) == (201, first)
    assert ann.post(PATH, body).json()["code"] == "too_many_addresses"


def test_the_last_payment_method_can_be_asked_for_again(person, redis_url):
    ann, path = person(), "/v1/users/me/payment-methods"
    method = {"provider": "sandbox", "reference": "pm_1"}
    for _ in range(MAX_PAYMENT_METHODS - 1):
        assert ann.post(path, method).status_code == 201
    first = ann.post(path, method, headers={"Idempotency-Key": "last"}).json()
    Redis.from_url(redis_url).flushdb()
    again = ann.post(path, method, headers={"Idempotency-Key": "last"})
    assert (again.status_code, again.json()) == (201, first)
    assert ann.post(path, method).json()["code"] == "too_many_payment_methods"


def test_the_list_and_me_cost_one_partition_query(person, one_list):
    ann = person()
    for number in range(5):
        add(ann, f"n{number}")
    for path in (PATH, "/v1/users/me"):
        assert calls(ann.get(path)) == one_list


def test_the_list_comes_in_pages_that_belong_to_its_reader(person):
    ann, bob = person(), person()
    ids = sorted(add(ann, name)["id"] for name in "abcde")
    seen, cursor = [], ""
    while cursor is not None:
        page = ann.get(f"{PATH}?limit=2{cursor and '&cursor=' + cursor}").json()
        seen += [item["id"] for item in page["items"]]
        cursor = page["next"]
    assert seen == ids
    foreign = ann.get(f"{PATH}?limit=2").json()["next"]
    assert bob.get(f"{PATH}?cursor={foreign}").json()["code"] == "bad_cursor"
    assert ann.get(f"{PATH}?limit=101").status_code == 422


def test_the_default_alone_is_one_partition_query(person):
    ann = person()
    assert ann.get(f"{PATH}/default").status_code == 404
    ids = [add(ann, name)["id"] for name in "abc"]
    for chosen in (None, ids[1], ids[2]):
        if chosen:
            ann.patch(f"{PATH}/{chosen}", {"default": True})
        answer = ann.get(f"{PATH}/default")
        assert calls(answer) == {"partition": 1, "global": 0, "read": 0, "write": 0}
        assert [answer.json()] == [item for item in ann.get(PATH).json()["items"] if item["default"]]
    for gone in (ids[2], ids[1]):
        ann.delete(f"{PATH}/{gone}")
        assert [ann.get(f"{PATH}/default").json()] == [
            item for item in ann.get(PATH).json()["items"] if item["default"]
        ]


def test_the_default_rule():
    def address(key, since=""):
        return {"_id": key, "default_since": since}

    assert default_address([]) is None
    assert default_address([address("a"), address("b")]) == "b"
    assert default_address([address("a", "2026"), address("b", "2025"), address("c")]) == "a"
    assert default_address([address("a", "2026"), address("b", "2026")]) == "b"
