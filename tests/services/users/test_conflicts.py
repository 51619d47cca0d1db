"""Replicas that changed one document apart: the database holds both versions, the rule makes one of them."""

import secrets
from itertools import permutations

import pytest

from services.users.actions.conflicts import settle_conflicts
from services.users.documents import CLAIM, auth_id, blanked, claim_id, is_blank, user_document
from services.users.rules.accounts import default_address
from services.users.rules.merging import merged
from services.users.rules.sync_revisions import united
from tests.services.users.conftest import PASSWORD, log_in
from tests.waiting import eventually


def diverge(database, docid, *versions):
    """Puts versions of a document beside each other as replication would: each a child of the present revision."""
    present = database.get(docid)
    number, _, parent = present["_rev"].partition("-")
    docs = []
    for version in versions:
        rev = secrets.token_hex(16)
        body = {**present, **version, "_rev": f"{int(number) + 1}-{rev}"}
        docs.append({**body, "_revisions": {"start": int(number) + 1, "ids": [rev, parent]}})
    database._client.call("post_bulk_docs", db=database.name, bulk_docs={"docs": docs, "new_edits": False})
    assert len(database.get(docid, conflicts=True)["_conflicts"]) == len(versions) - 1


def settled(database, deps, docid):
    def merged():
        settle_conflicts(deps)
        doc = database.get(docid, conflicts=True)
        return None if "_conflicts" in doc else doc

    return eventually(merged)


def test_an_account_keeps_every_sides_latest_change(person, database, deps, nobody):
    ann = person()
    docid = auth_id(ann.userid)
    password = database.get(docid)["password"]
    diverge(
        database,
        docid,
        {
            "name": "New name",
            "updated": "2030-01-03T00:00:00.000Z",
            "password": "older hash",
            "password_changed": "",
        },
        {
            "password": password,
            "password_changed": "2030-01-02T00:00:00.000Z",
            "updated": "2030-01-02T00:00:00.000Z",
        },
        {
            "roles": ["customer", "staff"],
            "roles_changed": "2030-01-01T00:00:00.000Z",
            "updated": "2030-01-01T00:00:00.000Z",
        },
    )
    doc = settled(database, deps, docid)
    assert (doc["name"], doc["password"], doc["roles"]) == ("New name", password, ["customer", "staff"])
    assert log_in(nobody, ann.email).userid == ann.userid


def test_an_email_asked_for_outlives_a_later_name(person, database, deps, mail, email):
    ann = person()
    docid = auth_id(ann.userid)
    before = database.get(docid)
    asked = ann.patch("/v1/users/me", {"email": email, "current_password": PASSWORD}).json()
    assert asked["pending_email"] == email
    untouched = {name: before.get(name) for name in ("pending_email", "pending_changed")}
    diverge(database, docid, {}, {"name": "Later", "updated": "2031-01-01T00:00:00.000Z", **untouched})
    doc = settled(database, deps, docid)
    assert (doc["name"], doc["pending_email"]) == ("Later", email)
    assert ann.post("/v1/users/verify", {"token": mail(email)}).json()["email"] == email
    answered = database.get(docid)
    diverge(database, docid, {}, {**asked_again(doc), "updated": "2032-01-01T00:00:00.000Z"})
    assert settled(database, deps, docid)["pending_email"] is None, "what was answered is not asked again"
    assert answered["email"] == email


def asked_again(doc):
    return {name: doc[name] for name in ("email", "pending_email", "pending_changed")}


def test_an_erasure_wins_over_any_change(person, database, deps):
    ann = person()
    docid = auth_id(ann.userid)
    erased = {
        "erasure": "started",
        "name": "",
        "email": "",
        "password": "",
        "active": False,
        "erasure_claims": [],
    }
    diverge(database, docid, {"name": "Later", "updated": "2031-01-01T00:00:00.000Z"}, erased)
    assert settled(database, deps, docid)["name"] == ""


def test_a_session_refreshed_on_both_sides_ends(person, database, deps, nobody):
    ann = person()
    token = nobody.post("/v1/sessions/refresh", {"refresh_token": ann.refresh_token}).json()["refresh_token"]
    doc = next(iter(database.partition(f"user{ann.userid}").all("session-")))
    diverge(database, doc["_id"], {"generation": 2}, {"generation": 2, "updated": "2030-01-01T00:00:00.000Z"})
    assert settled(database, deps, doc["_id"])["revoked"]
    assert nobody.post("/v1/sessions/refresh", {"refresh_token": token}).status_code == 401


def test_two_defaults_chosen_apart_are_one(person, database, deps):
    ann = person()
    ids = [
        ann.post("/v1/users/me/addresses", {"name": name, "address": "1 street"}).json()["id"]
        for name in "ab"
    ]
    docid = f"user{ann.userid}:delivery{ids[0]}"
    diverge(
        database,
        docid,
        {"default_since": "2030-01-02T00:00:00.000Z"},
        {"name": "renamed", "updated": "2030-01-01T00:00:00.000Z"},
    )
    doc = settled(database, deps, docid)
    assert (doc["name"], doc["default_since"][:4]) == ("renamed", "2030")
    assert [item["default"] for item in ann.get("/v1/users/me/addresses").json()["items"]].count(True) == 1


def test_a_basket_line_is_the_latest_change(person, database, deps):
    ann = person()
    docid = f"user{ann.userid}:basket-kettle"
    line = {
        "type": "basketline",
        "schema": 1,
        "userid": ann.userid,
        "productid": "kettle",
        "quantity": 1,
        "updated": "2026",
    }
    database.put({"_id": docid, **line})
    diverge(database, docid, {"quantity": 5, "updated": "2027"}, {"quantity": 2, "updated": "2028"})
    assert settled(database, deps, docid)["quantity"] == 2


def test_an_email_claimed_on_both_sides_belongs_to_the_earlier(person, database, deps, nobody):
    ann, bob = person(), person()
    database.put({**database.get(auth_id(bob.userid)), "email": ann.email})
    diverge(
        database,
        claim_id(ann.email),
        {"userid": bob.userid, "claimed": "2020-01-02T00:00:00.000Z"},
        {"userid": ann.userid, "claimed": "2020-01-01T00:00:00.000Z"},
    )
    assert settled(database, deps, claim_id(ann.email))["userid"] == ann.userid
    assert database.get(auth_id(bob.userid))["email_verified"] is False
    assert log_in(nobody, ann.email).userid == ann.userid


def test_a_claim_that_nobody_followed_up_gives_way(person, database, deps, nobody):
    ann = person()
    diverge(
        database,
        claim_id(ann.email),
        {"userid": "nobody", "claimed": "2020-01-01T00:00:00.000Z"},
        {"userid": ann.userid, "claimed": "2020-01-02T00:00:00.000Z"},
    )
    assert settled(database, deps, claim_id(ann.email))["userid"] == ann.userid


def test_settling_twice_changes_nothing(person, database, deps):
    ann = person()
    docid = auth_id(ann.userid)
    diverge(database, docid, {"name": "One"}, {"name": "Two"})
    first = settled(database, deps, docid)
    settle_conflicts(deps)
    assert database.get(docid)["_rev"] == first["_rev"]


def test_an_erasure_frees_what_either_side_had(person, database, deps, nobody):
    """One side erased the account while the other moved it to another e-mail."""
    ann = person()
    moved = claim_id(f"moved.{ann.email}")
    database.put(CLAIM.new(moved, userid=ann.userid, claimed="2026-01-01T00:00:00.000Z"))
    blank = {"name": "", "email": "", "password": "", "active": False, "roles": [], "erasure_claims": []}
    diverge(
        database,
        auth_id(ann.userid),
        {"email": f"moved.{ann.email}", "updated": "2031-01-01T00:00:00.000Z"},
        {**blank, "erasure": "done"},
    )
    merged_doc = settled(database, deps, auth_id(ann.userid))
    assert (merged_doc["email"], merged_doc["erasure_claims"]) == ("", [moved])


def test_what_an_erasure_overwrote_stays_so(person, database, deps):
    """The erasure crashed before it deleted, and the other side changed the address: no job may stumble over it."""
    ann = person()
    made = ann.post("/v1/users/me/addresses", {"name": "Home", "address": "7 Secret Lane"}).json()
    docid = user_document(ann.userid, f"delivery{made['id']}")
    present = database.get(docid)
    diverge(database, docid, {"address": "8 Secret Lane", "updated": "2031-01-01T00:00:00.000Z"}, {})
    winner = database.get(docid, conflicts=True)
    database.put({**blanked(present), "_rev": winner["_conflicts"][0]})
    assert is_blank(settled(database, deps, docid))


USER = {
    "_id": "u",
    "type": "user",
    "name": "A",
    "email": "a@x.org",
    "password": "h",
    "active": True,
    "email_verified": True,
    "roles": ["customer"],
    "updated": "1",
}


@pytest.mark.parametrize(
    "versions",
    [
        [
            USER,
            {**USER, "name": "B", "updated": "2"},
            {**USER, "roles": ["customer", "admin"], "roles_changed": "3"},
        ],
        [
            USER,
            {**USER, "pending_email": "b@x.org", "pending_changed": "2"},
            {**USER, "name": "B", "updated": "3"},
        ],
        [
            USER,
            {**USER, "pending_email": "b@x.org", "pending_changed": "2"},
            {**USER, "email": "b@x.org", "email_changed": "1", "pending_changed": "1"},
        ],
        [USER, {**USER, "erasure": "done"}, {**USER, "erasure": "started"}],
        [
            {**USER, "roles": ["customer", "admin"]},
            {**USER, "roles": ["customer", "staff"]},
            {**USER, "active": False},
        ],
        [{"_id": "c", "type": "claim", "userid": user, "claimed": "1"} for user in "abc"],
        [{"_id": "b", "type": "basketline", "quantity": number, "updated": "1"} for number in range(3)],
        [
            {"_id": "s", "type": "session", "generation": number, "updated": str(number)}
            for number in range(3)
        ],
        [{"_id": "t", "type": "token", "used": used} for used in (None, "2", "1")],
        [
            {"_id": "a", "type": "userdelivery", "name": name, "default_since": name, "updated": "1"}
            for name in "abc"
        ],
        [{"_id": "p", "type": "preferences", "values": {"language": name}, "updated": "1"} for name in "abc"],
    ],
)
def test_the_order_of_versions_never_matters(versions):
    results = [merged(order) for order in permutations(versions)]
    assert all(result == results[0] for result in results)
    assert merged([results[0], *versions]) == results[0], (
        "replicas that merged apart agree when they meet again"
    )


def test_on_a_tie_an_account_gets_the_fewer_rights():
    result = merged([{**USER, "roles": ["customer", "admin"]}, {**USER, "roles": ["customer"]}])
    assert result["roles"] == ["customer"]


def test_the_default_rule_needs_no_flag():
    docs = [
        {"_id": "a", "default": True, "default_since": "1"},
        {"_id": "b", "default": True, "default_since": "2"},
    ]
    assert default_address(docs) == "b"


def test_a_branch_that_one_side_alone_told_of_has_ended():
    """A device whose revision lost is told so, though the other side knew nothing of it."""
    end = {"start": 2, "ids": ["0e", "0d"]}
    ours = {"epoch": "1", "sequence": 4, "entries": {"profile": {"seq": 4, "start": 1, "ids": ["0a"]}}}
    theirs = {"epoch": "1", "sequence": 4, "entries": {"profile": {"seq": 3, "start": 1, "ids": ["0b"]}}}
    theirs["entries"]["profile"]["closed"] = [end]
    for versions in ([ours, theirs], [theirs, ours]):
        entry = united(versions)["entries"]["profile"]
        assert entry["ids"] == ["0b"]
        lost = [branch for branch in entry["closed"] if branch["ids"][1:] == ["0a"]]
        assert end in entry["closed"]
        assert [branch["start"] for branch in lost] == [2]
