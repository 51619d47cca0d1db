"""E-mails when a product is in stock again, on the real products service."""

import re
import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from services.products.documents import DESIGN as PRODUCTS
from services.users.actions import stock_alerts
from services.users.actions.sessions import remove_expired
from services.users.documents import DESIGN, STOCK_ALERT, stock_alert_id
from shared.clock import iso, now
from shared.errors import Unavailable
from tests.maildir import read_mail
from tests.processes import free_port
from tests.services.users.conftest import Api, calls, made, new_email
from tests.waiting import eventually, holding

PATH = "/v1/users/stock-alerts"


@pytest.fixture(scope="module")
def users_url(prepared, service, environment):
    environment["USERS_URL"] = f"http://127.0.0.1:{free_port()}"
    prepared(DESIGN, PRODUCTS)
    service("products")
    return service("users", ARGON2_MEMORY_KIB="64", ARGON2_PASSES="1", MAILS_PER_HOUR="3")


@pytest.fixture(scope="module")
def products(users_url, admin, environment):
    return Api(environment["PRODUCTS_URL"], admin.token)


@pytest.fixture
def guest(users_url):
    return Api(users_url)


@pytest.fixture
def inbox(environment):
    return lambda email: read_mail(Path(environment["MAIL_DIR"]), email)


def sell(products, stock=0, **more):
    productid = f"p{secrets.token_hex(4)}"
    body = {
        "productid": productid,
        "taxonomy": ["Home", "Kitchen"],
        "name": f"The {productid}",
        "price": {"amount": 1000, "currency": "GBP"},
        **({} if "variants" in more else {"stock": stock}),
        **more,
    }
    made(products, "/v1/products", body)
    return productid


def restock(products, productid, delta=3, **more):
    made(products, f"/v1/products/{productid}/stock", {"delta": delta, "reason": "delivery", **more})


def token_in(email: Any) -> str:
    found = re.search(r"token=([\w.%-]+)", email.text)
    assert found
    return found[1]


def test_a_guest_confirms_and_is_written_to_once(products, guest, inbox, deps):
    email, productid = new_email(), sell(products)
    assert guest.post(PATH, {"sku": productid, "email": email}).status_code == 202
    (question,) = inbox(email)
    restock(products, productid)
    assert stock_alerts.notify(deps, now()) == 0
    assert len(inbox(email)) == 1
    confirmed = guest.post(f"{PATH}/confirmation", {"token": token_in(question)})
    assert confirmed.json() == {"sku": productid}
    assert eventually(lambda: stock_alerts.notify(deps, now())) == 1
    news = inbox(email)[0]
    assert news.subject == f"The {productid} is back"
    assert f"/product/{productid}" in news.text
    assert stock_alerts.notify(deps, now()) == 0
    assert len(inbox(email)) == 2


def test_who_is_logged_in_needs_no_confirmation_and_a_variant_is_meant_alone(products, person, inbox, deps):
    sizes = [{"sku": f"s{secrets.token_hex(4)}", "options": {"Size": size}, "stock": 0} for size in "SL"]
    shirt = sell(products, options=[{"name": "Size", "values": ["S", "L"]}], variants=sizes)
    ann = person()
    before = len(inbox(ann.email))
    assert ann.post(PATH, {"sku": shirt}).json()["code"] == "variant_needed"
    assert ann.post(PATH, {"sku": sizes[0]["sku"]}).status_code == 202
    restock(products, shirt, sku=sizes[1]["sku"])
    assert stock_alerts.notify(deps, now()) == 0
    restock(products, shirt, sku=sizes[0]["sku"])
    assert eventually(lambda: stock_alerts.notify(deps, now())) == 1
    assert [each.subject for each in inbox(ann.email)][: len(inbox(ann.email)) - before] == [
        f"The {shirt} (S) is back"
    ]


def test_staff_see_that_it_went_out_and_what_it_read_like(products, person, deps, users_url):
    ann, productid = person(), sell(products)
    assert ann.post(PATH, {"sku": productid}).status_code == 202
    restock(products, productid)
    assert eventually(lambda: stock_alerts.notify(deps, now())) == 1
    desk = Api(users_url, products.token)
    sent = desk.get(f"/v1/admin/customers/{ann.userid}/emails").json()["items"]
    assert [(each["kind"], each.get("sku")) for each in sent] == [
        ("stock-alert", productid),
        ("verification", None),
    ]

    def shown():
        email = desk.get(f"/v1/admin/customers/{ann.userid}/emails/stock-alert").json()
        return email["to"], email["subject"]

    eventually(lambda: shown() == (ann.email, f"The {productid} is back"))


def test_the_link_of_the_e_mail_ends_it(products, guest, inbox, deps):
    email, productid = new_email(), sell(products)
    guest.post(PATH, {"sku": productid, "email": email})
    token = token_in(inbox(email)[0])
    guest.post(f"{PATH}/confirmation", {"token": token})
    for _ in range(2):
        assert guest.post(f"{PATH}/cancellation", {"token": token}).status_code == 204
    restock(products, productid)
    assert stock_alerts.notify(deps, now()) == 0
    assert guest.post(f"{PATH}/confirmation", {"token": token}).status_code == 400
    forged = token[:-4] + ("0000" if token[-4:] != "0000" else "1111")
    for verb in ("confirmation", "cancellation"):
        assert guest.post(f"{PATH}/{verb}", {"token": forged}).status_code == 400


def test_what_cannot_be_waited_for_is_refused(products, guest, person):
    email = new_email()
    assert guest.post(PATH, {"sku": "nothing", "email": email}).status_code == 404
    assert guest.post(PATH, {"sku": sell(products, stock=2), "email": email}).json()["code"] == "in_stock"
    assert guest.post(PATH, {"sku": sell(products), "email": "nobody"}).status_code == 422
    assert guest.post(PATH, {"sku": sell(products)}).status_code == 422


def test_nobody_is_flooded_with_questions(products, guest, inbox):
    email = new_email()
    for _ in range(5):
        assert guest.post(PATH, {"sku": sell(products), "email": email}).status_code == 202
    assert len(inbox(email)) == 3


def waiting(deps, productid, **more):
    email = new_email()
    moment = iso(now())
    alert = STOCK_ALERT.build(
        stock_alert_id(productid, email), sku=productid, email=email, requested=moment, confirmed=moment
    )
    deps.store.put({**alert, **more})
    holding(at_once=deps.store.database.has_one_copy)(lambda: productid in deps.store.waited_for())
    return email


def test_workers_at_the_same_time_send_each_once(products, inbox, deps):
    """Of which too few of a cluster's nodes took the claim goes out when the claim has run out."""
    productid = sell(products, stock=5)
    emails = [waiting(deps, productid) for _ in range(20)]
    with ThreadPoolExecutor(6) as pool:
        turns = list(pool.map(lambda _: stock_alerts.notify(deps, now()), range(6)))
    claims_run_out = now() + timedelta(minutes=6)
    eventually(lambda: sum(turns) >= 20 or turns.append(stock_alerts.notify(deps, claims_run_out)))
    assert sum(turns) == 20
    assert stock_alerts.notify(deps, claims_run_out) == 0
    assert [len(inbox(email)) for email in emails] == [1] * 20


def test_two_claims_at_one_moment_are_two_revisions(products, deps):
    """Equal changes of one revision are one revision, which a cluster may grant to both."""
    productid, moment, claims = sell(products, stock=5), now(), []
    email = waiting(deps, productid)

    class Away:
        def send(self, sent):
            claim = deps.store.get(stock_alert_id(productid, sent.to))
            claims.append({name: value for name, value in claim.items() if name != "_rev"})
            raise Unavailable("away")

    def has_claimed(times):
        assert stock_alerts.notify(replace(deps, direct_mailer=Away()), moment) == 0
        return len(claims) == times

    eventually(lambda: has_claimed(1))
    eventually(lambda: has_claimed(2))
    assert claims[0] != claims[1]
    assert "sender" not in deps.store.get(stock_alert_id(productid, email))
    assert eventually(lambda: stock_alerts.notify(deps, moment)) == 1


def test_what_is_ended_while_it_is_sent_holds_nothing_up(products, inbox, deps):
    productid = sell(products, stock=5)
    emails = [waiting(deps, productid) for _ in range(2)]

    class Ending:
        def send(self, email):
            deps.direct_mailer.send(email)
            deps.store.delete(deps.store.get(stock_alert_id(productid, email.to)))

    assert stock_alerts.notify(replace(deps, direct_mailer=Ending()), now()) == 2
    assert [len(inbox(email)) for email in emails] == [1, 1]


def test_a_claim_that_a_node_kept_though_it_was_refused_is_gone_with_the_one_that_was_sent(
    products, inbox, deps
):
    productid = sell(products, stock=5)
    email = waiting(deps, productid)
    docid = stock_alert_id(productid, email)

    class Racing:
        def send(self, sent):
            deps.direct_mailer.send(sent)
            keep_refused(deps, deps.store.get(docid), before)

    before = deps.store.get(docid)["_rev"]
    assert stock_alerts.notify(replace(deps, direct_mailer=Racing()), now()) == 1
    assert stock_alerts.notify(deps, now() + timedelta(minutes=6)) == 0
    assert deps.store.get(docid) is None
    assert len(inbox(email)) == 1


def keep_refused(deps, claim, before):
    """Another worker's claim of the same alert, which one node of a cluster has kept."""
    rev, start = secrets.token_hex(16), int(claim["_rev"].partition("-")[0])
    history = {"start": start, "ids": [rev, before.partition("-")[2]]}
    docs = {"docs": [{**claim, "_rev": f"{start}-{rev}", "_revisions": history}], "new_edits": False}
    deps.store.database._client.call("post_bulk_docs", db=deps.store.database.name, bulk_docs=docs)


def test_a_refused_claim_that_shows_itself_after_the_sent_one_has_gone_is_not_sent_again(
    products, inbox, deps
):
    productid = sell(products, stock=5)
    email = waiting(deps, productid)
    docid, claims = stock_alert_id(productid, email), []

    class Remembering:
        def send(self, sent):
            deps.direct_mailer.send(sent)
            claims.append(deps.store.get(docid))

    before = deps.store.get(docid)["_rev"]
    assert stock_alerts.notify(replace(deps, direct_mailer=Remembering()), now()) == 1
    keep_refused(deps, claims[0], before)
    assert deps.store.get(docid) is not None
    assert stock_alerts.notify(deps, now() + timedelta(minutes=6)) == 0
    assert deps.store.get(docid) is None
    assert len(inbox(email)) == 1


def test_what_a_worker_that_died_had_begun_is_sent_later(products, inbox, deps):
    productid = sell(products, stock=5)
    email = waiting(deps, productid, sending=iso(now()))
    assert stock_alerts.notify(deps, now()) == 0
    assert stock_alerts.notify(deps, now() + timedelta(minutes=6)) == 1
    assert len(inbox(email)) == 1


def test_a_mail_server_that_is_away_is_asked_again(products, inbox, deps):
    class Away:
        def send(self, email):
            raise Unavailable("away")

    email = waiting(deps, sell(products, stock=1))
    assert stock_alerts.notify(replace(deps, direct_mailer=Away()), now()) == 0
    assert stock_alerts.notify(deps, now()) == 1
    assert len(inbox(email)) == 1


def test_unconfirmed_ones_expire(products, deps):
    productid = sell(products)
    email = new_email()
    docid = stock_alert_id(productid, email)
    long_ago = iso(now() - timedelta(hours=1))
    deps.store.put(STOCK_ALERT.build(docid, sku=productid, email=email, requested=long_ago, expires=long_ago))
    remove_expired(deps)
    assert deps.store.get(docid) is None


def test_it_is_exported_and_erased_with_the_person(products, person, deps):
    ann = person()
    productid = sell(products)
    ann.post(PATH, {"sku": productid})
    assert deps.store.get(stock_alert_id(productid, ann.email)) is not None
    assert "stockalert" in {doc["type"] for doc in deps.store.stock_alerts_of(digest(ann.email))}
    ann.delete("/v1/users/me", json={"current_password": "correct horse battery"})
    assert deps.store.get(stock_alert_id(productid, ann.email)) is None


def digest(email):
    return stock_alert_id("x", email).partition(":")[2]


def test_the_job_costs_one_query_however_many_wait(products, deps, guest):
    answer = guest.post(PATH, {"sku": sell(products), "email": new_email()})
    assert calls(answer)["global"] == 0
