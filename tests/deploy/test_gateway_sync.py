"""Everything a stranger with an account of their own can ask of the replication endpoints, through nginx as it is deployed: byte for byte,
at the API and at the pages' own addresses. What is asked about somebody else is answered as what is asked about nobody is."""

import base64
import contextlib
import gzip
import json
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
import requests

from tests.bench.running import ADMIN_EMAIL, running_shop
from tests.deploy.test_gateway_traffic import nginx
from tests.people import PASSWORD, Person, add_address, register
from tests.raw_http import RawResponse, raw_connection
from tests.services.storefront.conftest import load_goods, product
from tests.services.storefront.visitor import Visitor
from tests.waiting import eventually

pytestmark = pytest.mark.deployment
SYNC = "/v1/users/me/sync"
PAGES = "/device/sync"
GROUP, SECRET_WORDS = "farriers", "Unveiled tomorrow"
HIDDEN = [
    product("veil-draft", f"{SECRET_WORDS} one", ["Veils"], 47110815, status="draft"),
    product("veil-archived", f"{SECRET_WORDS} two", ["Veils"], 47120815, status="archived"),
    product(
        "veil-sold",
        "Lace veil",
        ["Veils"],
        3000,
        group_prices={GROUP: {"GBP": 12340815}},
        cost_prices={"GBP": 9870815},
    ),
    product("hood-draft", f"{SECRET_WORDS} three", ["Hoods"], 47130815, status="draft"),
]

ABOUT = [
    "/{docid}", "/{docid}?rev={rev}", "/{docid}?revs=true&latest=true&rev={rev}", "/{docid}?open_revs=all", "/{docid}?open_revs=%5B%22{rev}%22%5D&latest=true",
    "/{docid}?attachments=true&conflicts=true&revs_info=true", "/{docid}/photo.png", "/{docid}%2Fphoto.png", "/{docid}%00", "/{docid};v=1", "/%C2%A0{docid}",
    "/user{userid}:{docid}", "/user{userid}%3A{docid}", "/user{userid}%253A{docid}", "/{userid}", "/{userid}/_changes",
    "/../{userid}", "/..%2F..%2F{userid}", "/%2e%2e/%2e%2e/{userid}/sync/{docid}", "/..%252F{userid}", "/..;/{userid}", "/%c0%ae%c0%ae/{userid}", "/%EF%BC%8E%EF%BC%8E/{userid}",
    "/.%00./{userid}", "//{userid}//{docid}", "/..\\{userid}\\{docid}", "/..%5C{userid}%5C{docid}", "/_local/{point}", "/_local/..%2F{docid}", "/_local%2F{point}",
    "/_partition/user{userid}/_all_docs", "/_partition/user{userid}/_find", "/_design/{userid}/_view/by_email?key=%22{docid}%22",
    "/_all_docs?include_docs=true&key=%22{docid}%22", "/_all_docs?include_docs=true&startkey=%22{docid}%22&endkey=%22{docid}%22", "/_all_docs?keys=%5B%22{docid}%22%5D",
    "/_changes?doc_ids=%5B%22{docid}%22%5D&filter=_doc_ids", "/_changes?filter=_selector&include_docs=true", "/_changes?filter=_view&view=users/customers&key=%22{userid}%22",
    "/_changes?filter=users/mine&userid={userid}", "/_changes?feed=continuous&since={rev}", "/_changes?feed=eventsource&user={userid}", "/_changes?since={rev}",
]  # fmt: skip
"""GET of each."""

WRITES: list[tuple[str, str, Any]] = [
    ("POST", "/_bulk_get", {"docs": [{"id": "{docid}", "rev": "{rev}"}]}),
    ("POST", "/_bulk_get?revs=true&latest=true&attachments=true", {"docs": [{"id": "{docid}", "atts_since": ["{rev}"]}]}),
    ("POST", "/_bulk_get", {"docs": [{"id": "user{userid}:{docid}"}, {"id": "../{userid}/{docid}"}]}),
    ("POST", "/_revs_diff", {"{docid}": ["{rev}", "1-{stranger}"]}),
    ("POST", "/_missing_revs", {"{docid}": ["{rev}"]}),
    ("POST", "/_all_docs?include_docs=true", {"keys": ["{docid}", "user{userid}:{docid}"]}),
    ("POST", "/_all_docs/queries", {"queries": [{"keys": ["{docid}"]}]}),
    ("POST", "/_find", {"selector": {"_id": "{docid}"}}),
    ("POST", "/_explain", {"selector": {"userid": "{userid}"}}),
    ("POST", "/_changes?filter=_selector", {"selector": {"userid": "{userid}"}}),
    ("POST", "/_changes?filter=_doc_ids", {"doc_ids": ["{docid}"]}),
    ("POST", "/_purge", {"{docid}": ["{rev}"]}),
    ("PUT", "/_security", {"members": {"names": ["{userid}"]}}),
    ("PUT", "/_design/{userid}", {"views": {"all": {"map": "function (doc) { emit(doc._id); }"}}}),
    ("PUT", "/{docid}/photo.png", {"of": "{userid}"}),
    ("PUT", "/{docid}?new_edits=false", {"_id": "{docid}", "_rev": "9999-{stranger}", "_deleted": True}),
    ("PUT", "/user{userid}:{docid}", {"_id": "user{userid}:{docid}", "_rev": "{rev}", "type": "user", "roles": ["admin"]}),
    ("DELETE", "/{docid}?rev={rev}", None),
    ("DELETE", "/_local/{point}", None),
    ("COPY", "/{docid}", None),
    ("POST", "/_bulk_docs", {"docs": [{"_id": "{docid}", "_rev": "{rev}", "_deleted": True}]}),
    ("POST", "/_bulk_docs", {"new_edits": False, "docs": [{"_id": "{docid}", "_rev": "9999-{stranger}", "_revisions": {"start": 9999, "ids": ["{stranger}", "{hash}"]}, "_deleted": True}]}),
    ("POST", "/_bulk_docs", {"new_edits": False, "docs": [{"_id": "order-{orderid}", "_rev": "9999-{stranger}", "_deleted": True}, {"_id": "order-{orderid}", "_rev": "9999-{stranger}", "type": "order", "total": {"amount": 0, "currency": "GBP"}}]}),
    ("POST", "/_bulk_docs", {"new_edits": False, "docs": [{"_id": "{docid}", "_rev": "9999-{stranger}", "type": "userdelivery", "userid": "{userid}", "_attachments": {"a.txt": {"data": "aGk=", "content_type": "text/plain"}}}]}),
    ("POST", "/_bulk_docs", {"new_edits": False, "docs": [{"_id": "_design/{userid}", "_rev": "1-{stranger}", "language": "javascript"}, {"_id": "_local/{point}", "last_seq": 9}]}),
]  # fmt: skip


@dataclass
class Attacked:
    """The gateway before a shop; whose data nobody may meet, what is secret of it, and a stranger: at the API and, with cookies, at the pages."""

    url: str
    victim: Person
    known: dict[str, dict[str, Any]]
    orderid: str
    stranger: Person
    browser: Visitor
    csrf: str

    def headers(self, prefix: str) -> dict[str, str]:
        if prefix != PAGES:
            return {"Authorization": f"Bearer {self.stranger.token}"}
        cookies = "; ".join(f"{each.name}={each.value}" for each in self.browser.jar)
        return {"Cookie": cookies, "X_CSRF_Token": self.csrf, "Origin": self.url}

    def ask(
        self, method: str, target: str, prefix: str, body: bytes | None = None, **more: str
    ) -> RawResponse:
        """Sends these very bytes; whom the gateway's limit stops asks again."""
        host = urlsplit(self.url).netloc
        for _ in range(100):
            with raw_connection(self.url) as connection:
                lines = {"Connection": "close", **self.headers(prefix), **more}
                if body is not None:
                    lines |= {"Content_Type": "application/json", "Content_Length": str(len(body))}
                assert connection.host == host
                connection.send_head(method, target, **lines)
                answer = self._answer(connection, body)
            if answer.status not in (429, 503):
                return answer
            time.sleep(0.1)
        raise AssertionError(f"{target} is answered {answer.status} again and again")

    @staticmethod
    def _answer(connection: Any, body: bytes | None) -> RawResponse:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.send(body or b"")  # one that is too long is not read to its end
        answer: RawResponse = connection.response()
        return answer


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    folder = tmp_path_factory.mktemp("attacked")
    settings = {
        "WEB_WORKERS": "1",
        "TRUSTED_PROXIES": "1",
        "PROXY_HOPS": "1",
        "CUSTOMER_GROUPS": GROUP,
        "COURIER": "manual",
    }
    with running_shop(folder / "shop", **settings) as shop, nginx(shop, folder) as url:
        load_goods(shop)
        admin = Person(url, ADMIN_EMAIL, shop.admin_password)
        goods = b"".join(json.dumps(each).encode() + b"\n" for each in HIDDEN)
        sent = {"Content-Type": "application/x-ndjson"}
        loaded = admin.post(f"{url}/v1/products/import", goods, headers=sent, timeout=60)
        assert loaded.json()["failed"] == [], loaded.text
        victim = register(url, shop.state / "mail", "Victoria Victim")
        add_address(victim, url)
        victim.put(f"{url}/v1/users/me/basket/spade", json={"quantity": 2}, timeout=30).raise_for_status()
        order = {
            "items": [{"productid": "rake", "quantity": 1}],
            "address": "13 Secret Lane\nLeeds LS1 4DY\nUnited Kingdom",
            "payment": {"provider": "sandbox", "token": "tok_ok"},
        }
        key = {"Idempotency-Key": secrets.token_hex(16)}
        placed = victim.post(f"{url}/v1/orders", json=order, headers=key, timeout=60)
        assert placed.status_code == 201, placed.text
        point = {"last_seq": "1-secretpoint"}
        victim.put(f"{url}{SYNC}/_local/victimsdevice", json=point, timeout=30).raise_for_status()
        stranger = register(url, shop.state / "mail", "Eve Stranger")
        browser = Visitor(url)
        browser.get("/login")
        browser.submit("/login", email=stranger.email, password=PASSWORD)
        csrf = json.loads(browser.get("/device").body)["csrf"]
        orderid = placed.json()["orderid"]
        yield Attacked(url, victim, documents(url, victim), orderid, stranger, browser, csrf)


def seen(url: str, person: Person, path: str) -> Any:
    """What they read there, asking again where the gateway's limit stops them after so many attacks."""

    def read() -> requests.Response | None:
        answer = person.get(url + path, timeout=60)
        return answer if answer.status_code != 429 else None

    answer = eventually(read)
    assert answer is not None
    return answer.json()


def documents(url: str, person: Person) -> dict[str, dict[str, Any]]:
    """All that their devices see, by id."""
    found = seen(url, person, f"{SYNC}/_changes?include_docs=true")["results"]
    return {row["id"]: row["doc"] for row in found}


def filled(template: Any, values: dict[str, str]) -> Any:
    if isinstance(template, dict):
        return {filled(name, values): filled(value, values) for name, value in template.items()}
    if isinstance(template, list):
        return [filled(each, values) for each in template]
    if not isinstance(template, str):
        return template
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", value)
    return template


def unnamed(answer: RawResponse, values: dict[str, str]) -> tuple[int, str]:
    """Status and words of an answer without what the question itself said and what each request has of its own."""
    text = answer.body.decode(errors="replace")
    for name, value in sorted(values.items(), key=lambda each: -len(each[1])):
        text = text.replace(value, f"{{{name}}}").replace(quote(value, safe=""), f"{{{name}}}")
    if text.startswith("<"):  # a page: its ids and tokens are of each request
        return answer.status, ""
    try:
        said = json.loads(text)
    except ValueError:
        return answer.status, text
    if isinstance(said, dict):
        said.pop("request_id", None)
        said.pop("instance", None)
    return answer.status, json.dumps(said, sort_keys=True)


def test_what_is_asked_about_somebody_is_answered_as_about_nobody(attacked: Attacked) -> None:
    victim, known = attacked.victim, attacked.known
    own = documents(attacked.url, attacked.stranger)
    foreign = [doc for docid, doc in known.items() if docid not in own]
    assert {doc["_id"].partition("-")[0][:8] for doc in foreign} == {"basket", "delivery", "order"}
    secret = {victim.email, victim.userid, attacked.orderid, "Victoria", "Secret Lane", "secretpoint"}
    secret |= {doc["_rev"] for doc in known.values()} - {doc["_rev"] for doc in own.values()}
    ghost = {
        "userid": secrets.token_hex(len(victim.userid) // 2 + 1)[: len(victim.userid)],
        "point": "ghostofdevice",
        "orderid": secrets.token_hex(len(attacked.orderid))[: len(attacked.orderid)],
    }
    for prefix in (SYNC, PAGES):
        for doc in foreign:
            docid, stranger = doc["_id"], secrets.token_hex(16)
            number, _, digest = doc["_rev"].partition("-")
            about = {"userid": victim.userid, "point": "victimsdevice", "orderid": attacked.orderid}
            about |= {"docid": docid, "rev": doc["_rev"], "hash": digest, "stranger": stranger}
            other = secrets.token_hex(16)
            nobody = ghost | {"docid": docid[:-2] + "zz", "rev": f"{number}-{other}"}
            nobody |= {"hash": other, "stranger": stranger}
            if docid.startswith("order-"):
                nobody["orderid"] = nobody["docid"].removeprefix("order-")
            questions = [("GET", path, None) for path in ABOUT] + WRITES
            for method, path, template in questions:
                answers = []
                for values in (about, nobody):
                    body = None if template is None else json.dumps(filled(template, values)).encode()
                    target = prefix + filled(path, values)
                    answer = attacked.ask(method, target, prefix, body)
                    assert answer.status < 500, (method, target, answer)
                    answers.append(unnamed(answer, values))
                assert answers[0] == answers[1], (method, prefix + path, docid)
                assert not [each for each in secret if each in answers[0][1]], (method, path, answers[0])
    assert documents(attacked.url, victim) == known
    assert seen(attacked.url, victim, f"{SYNC}/_local/victimsdevice")["last_seq"] == "1-secretpoint"
    assert seen(attacked.url, victim, f"/v1/orders/{attacked.orderid}")["status"] != "cancelled"
    assert documents(attacked.url, attacked.stranger) == own, "nor did anything of theirs come of it"


def test_own_orders_and_rights_are_not_written_by_any_revision(attacked: Attacked) -> None:
    victim, known = attacked.victim, attacked.known
    order = known[f"order-{attacked.orderid}"]
    for new_edits in (True, False):
        for rev in (order["_rev"], f"9999-{secrets.token_hex(16)}"):
            forged = [
                {"_id": order["_id"], "_rev": rev, "_deleted": True},
                {**order, "_rev": rev, "total": {"amount": 1, "currency": "GBP"}, "status": "refunded"},
                {**known["profile"], "_rev": rev, "roles": ["admin"], "email": "eve@example.com"},
            ]
            body = {"docs": forged, "new_edits": new_edits}
            while (
                said := victim.post(f"{attacked.url}{SYNC}/_bulk_docs", json=body, timeout=30)
            ).status_code == 429:
                time.sleep(0.1)
            assert said.status_code == 201, said.text
            refused = {row["id"] for row in said.json() if row.get("error") in ("forbidden", "conflict")}
            known_already = rev == order["_rev"] and not new_edits
            assert known_already or order["_id"] in refused, said.text
    now = documents(attacked.url, victim)
    assert now[order["_id"]] == order
    assert {name: now["profile"][name] for name in ("roles", "email", "name")} == {
        name: known["profile"][name] for name in ("roles", "email", "name")
    }


def test_bodies_that_are_too_much_are_refused_and_the_shop_goes_on(attacked: Attacked) -> None:
    bomb = gzip.compress(b"[" + b"0," * 20_000_000 + b"0]")
    many = json.dumps({"docs": [{"_id": f"basket-{each}"} for each in range(10_000)]}).encode()
    for prefix in (SYNC, PAGES):
        for body, statuses, more in (
            (b'{"docs": [' + b" " * 20_000_000 + b"]}", (413,), {}),
            (many, (413,), {}),
            (b'{"docs": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", (400, 413), {}),
            (b'{"docs": [' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"]}", (400, 413), {}),
            (bomb, (400, 413, 415), {"Content_Encoding": "gzip"}),
            (b'{"docs": [{"_id": "\\ud800"}]}', (400,), {}),
            (b"\xff\xfe{}", (400,), {}),
        ):
            answer = attacked.ask("POST", f"{prefix}/_bulk_docs", prefix, body, **more)
            assert answer.status in statuses, (prefix, body[:30], answer)
            assert len(answer.body) < 20_000
        fine = attacked.ask("GET", f"{prefix}/_all_docs", prefix)
        assert fine.status == 200


def test_kept_departments_tell_nothing_that_the_shop_does_not_show(attacked: Attacked) -> None:
    def places(category: str) -> tuple[str, str]:
        key = base64.urlsafe_b64encode(category.encode()).decode().rstrip("=")
        return f"/v1/products/sync/{quote(quote(category, safe=''), safe='')}", f"/device/kept/{key}"

    def asked(at: str) -> Iterator[tuple[str, bytes | None]]:
        yield "/_changes?include_docs=true&attachments=true&conflicts=true", None
        yield "/_all_docs?include_docs=true", None
        yield "/_changes?filter=_selector&include_docs=true", None
        yield "/category", None
        for name in ("veil-draft", "veil-archived", "hood-draft", "veil-sold"):
            yield f"/product-{name}?revs=true", None
            yield f"/product-{name}?open_revs=all", None
            yield f"/{name}", None
            yield f"/Veils:{name}", None
            yield f"/Veils%3A{name}", None
            yield "/_bulk_get", json.dumps({"docs": [{"id": f"product-{name}"}]}).encode()
            yield "/_all_docs?include_docs=true", json.dumps({"keys": [f"product-{name}"]}).encode()
            yield "/_revs_diff", json.dumps({f"product-{name}": ["1-abc"]}).encode()
        for path in (
            "_design/products",
            "_find",
            "_security",
            "#sync",
            "%23sync",
            "_local/%23sync",
            "..%2Flookup",
        ):
            yield f"/{path}", None

    secret = (
        SECRET_WORDS,
        GROUP,
        "47110815",
        "47120815",
        "47130815",
        "12340815",
        "9870815",
        "cost",
        "group_prices",
    )
    for category in (
        "Veils",
        "Hoods",
        "veils",
        "Veils#",
        "#sync",
        "..",
        "../lookup",
        "../../internal",
        "Veils/../Hoods",
        "Veils\0",
    ):
        for at in places(category):
            prefix = PAGES if at.startswith("/device") else SYNC
            for path, body in asked(at):
                answer = attacked.ask("GET" if body is None else "POST", at + path, prefix, body)
                text = answer.body.decode(errors="replace")
                assert answer.status < 500, (category, at + path, answer)
                if text.startswith("<"):
                    continue  # the shop's page that says so
                assert not [each for each in secret if each in text], (category, at + path, text[:600])
    for at in places("Hoods"):
        prefix = PAGES if at.startswith("/device") else SYNC
        assert attacked.ask("GET", f"{at}/_changes", prefix).status == 404, "a category of drafts is none"
    sold = attacked.ask("GET", f"{places('Veils')[1]}/product-veil-sold", PAGES)
    assert json.loads(sold.body)["price"]["amount"] == 3000


def test_nothing_inside_is_reached_from_the_pages_own_databases(attacked: Attacked) -> None:
    """What stands in a path goes on to a service as it is: never out of the database's own addresses."""
    inside = [
        "/device/sync/..%2F..%2F..%2Finternal%2Fusers%2F1",
        "/device/sync/..%2F..%2F..%2F..%2Fmetrics",
        "/device/sync/%2e%2e/%2e%2e/%2e%2e/%2e%2e/metrics",
        "/device/sync/..%252F..%252F..%252F..%252Fmetrics",
        "/device/sync/..%2Faddresses",
        "/device/sync/%3F/../../addresses",
        "/device/sync/_all_docs%3Finclude_docs=true%23",
        "/device/sync/profile%0d%0aX-Acting-User:%20admin",
    ]
    for category in ("..", "../..", "../../..", "../../../metrics"):
        key = base64.urlsafe_b64encode(category.encode()).decode().rstrip("=")
        inside += [
            f"/device/kept/{key}/metrics",
            f"/device/kept/{key}/..%2F..%2Fmetrics",
            f"/device/kept/{key}/lookup",
        ]
    for target in inside:
        answer = attacked.ask("GET", target, PAGES)
        assert answer.status in (400, 404, 405), (target, answer)
        assert b"# HELP" not in answer.body
    said = requests.get(
        f"{attacked.url}{SYNC}", headers={"X-Acting-User": attacked.victim.userid}, timeout=30
    )
    assert said.status_code == 401
