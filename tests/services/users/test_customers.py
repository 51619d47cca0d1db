"""Customers as staff see them: list and search, one customer, notes, e-mails, export."""

import secrets
from pathlib import Path

import pytest

from services.users.actions.sessions import remove_expired
from services.users.documents import CUSTOMERS, USER, auth_id
from services.users.rules.customer_search import search_key
from tests.maildir import read_mail
from tests.services.users.conftest import PASSWORD, Api, calls, log_in, new_email
from tests.waiting import eventually

LIST = "/v1/admin/customers"


@pytest.fixture(scope="module")
def users_settings() -> dict[str, str]:
    return {"LANGUAGES": "en,de"}


def listed(admin: Api, **asked: str) -> list[str]:
    answer = admin.get(LIST, params={"limit": "100", **asked})
    assert answer.status_code == 200, answer.text
    return [each["userid"] for each in answer.json()["items"]]


def stored_account(database, name: str, email: str, **more) -> str:
    userid = secrets.token_hex(13)
    values = {"email_verified": True, "roles": ["customer"], "active": True, "updated": "", **more}
    values.setdefault("created", "2001-01-01T00:00:00.000Z")
    database.put(
        USER.build(auth_id(userid), userid=userid, name=name, email=email, password="none", **values)
    )
    return userid


def test_the_list_is_newest_first_in_full_pages_with_one_global_query(admin, person):
    first, second, third = (person() for _ in range(3))
    page = admin.get(LIST, params={"limit": 2})
    assert calls(page) == {"partition": 0, "global": 1, "read": 0, "write": 0}
    assert [each["userid"] for each in page.json()["items"]] == [third.userid, second.userid]
    after = admin.get(LIST, params={"limit": 2, "cursor": page.json()["next"]}).json()
    assert after["items"][0]["userid"] == first.userid
    assert admin.get(LIST, params={"q": "x", "cursor": page.json()["next"]}).status_code == 400
    newest = page.json()["items"][0]
    assert (newest["email"], newest["active"], "password" in newest) == (third.email, True, False)


@pytest.mark.parametrize(
    "query",
    ["Zoë Anna-Lena O'Hara", "ohara zoe", "O’HARA", "ohar", "zo", "Lena", "annalena", "anna-l", "ohara  Zoë"],
)
def test_a_name_is_found_by_its_words_in_any_order_and_by_their_beginnings(database, admin, query):
    email = new_email()
    userid = stored_account(database, "Zoë Anna-Lena O'Hara", email)
    eventually(lambda: userid in listed(admin, q=query))
    assert userid not in listed(admin, q=f"{query} Smith")


def test_an_email_is_found_whole_and_by_its_beginning_and_an_account_by_its_id(database, admin):
    local = f"mary.ann+{secrets.token_hex(4)}"
    email = f"{local}@Shop-of.example".lower()
    userid = stored_account(database, "Mary", email)
    for query in (email, email.upper(), local, local[:-1], f"{local}@", userid, f" {userid.upper()} "):
        eventually(lambda query=query: listed(admin, q=query) == [userid])
    assert listed(admin, q=f"x{email}") == []
    assert listed(admin, q="...") == [], "what has no letter finds nobody, not everybody"


def test_both_sides_of_the_search_make_the_same_texts(database, admin):
    names = [
        "Ægir Þór",
        "ΑΛΈΞΗΣ Ω",
        "İpek Şahin",
        "李 小龍",
        "Ana  María\tde la Cruz Ruiz",
        "ﬁne Ⅷ",
        "Jürgen-Karl",
    ]
    for name in names:
        userid = stored_account(database, name, new_email())
        key = ["", search_key(name), "2001-01-01T00:00:00.000Z", userid]
        if len(name.split()) < 6:
            eventually(lambda key=key: database.across_partitions.view(CUSTOMERS, key=key))
        eventually(lambda name=name, userid=userid: userid in listed(admin, q=name.split()[0]))


def test_the_list_of_a_group(database, admin):
    group = f"g{secrets.token_hex(4)}"
    members = [
        stored_account(
            database, "Ann Berg", new_email(), group=group, created=f"200{year}-01-01T00:00:00.000Z"
        )
        for year in (1, 2)
    ]
    stored_account(database, "Ann Berg", new_email())
    assert listed(admin, group=group) == members[::-1]
    assert listed(admin, group=group, q="berg") == members[::-1]
    assert listed(admin, group=group, q="nobody") == []


def test_the_erased_are_not_listed_and_the_closed_are(admin, person):
    gone, closed = person(name="Erased Person"), person(name="Closed Person")
    assert gone.delete("/v1/users/me").status_code == 204
    path = f"/v1/admin/users/{closed.userid}/closure"
    assert admin.put(path, {"reason": "asked"}).status_code == 200
    found = listed(admin, q="person")
    assert closed.userid in found
    assert gone.userid not in found
    assert gone.userid not in listed(admin)
    shown = admin.get(f"{LIST}/{gone.userid}").json()
    assert (shown["erased"], shown["name"], shown["email"], shown["addresses"]) == (True, "", "", [])
    assert shown["erased_at"]
    shown = admin.get(f"{LIST}/{closed.userid}").json()
    assert (shown["active"], shown["erased"]) == (False, False)
    assert shown["closed"] > shown["verified"] >= shown["created"]
    assert admin.get(f"{LIST}/nobody").status_code == 404
    assert admin.post(f"{LIST}/{gone.userid}/notes", {"text": "x"}).status_code == 404
    assert admin.post(f"{LIST}/{closed.userid}/emails", {"kind": "new-password"}).status_code == 409


def test_a_customer_is_one_partition_query_without_secrets(admin, person, one_list):
    ann = person(name="Ann Detail")
    ann.post("/v1/users/me/addresses", {"name": "Ann", "address": "1 High Street\nLeeds LS1 4DY"})
    answer = admin.get(f"{LIST}/{ann.userid}")
    assert calls(answer) == one_list
    shown = answer.json()
    assert shown["addresses"][0]["postcode"] == "LS1 4DY"
    assert (shown["preferences"]["newsletter"], shown["notes"]) == (False, [])
    assert "password" not in answer.text
    assert "token" not in answer.text


def test_notes_are_staffs_own_immutable_and_exported(admin, person):
    ann = person(name="Ann Noted")
    path, key = f"{LIST}/{ann.userid}/notes", {"Idempotency-Key": secrets.token_hex(8)}
    first = admin.post(path, {"text": "Prefers\nmornings."}, headers=key)
    assert (first.status_code, first.json()["by"]) == (201, f"user {admin.userid}")
    assert admin.post(path, {"text": "Prefers\nmornings."}, headers=key).json() == first.json()
    admin.post(path, {"text": "Rang."})
    assert [each["text"] for each in admin.get(path).json()["items"]] == ["Rang.", "Prefers\nmornings."]
    assert admin.get(f"{LIST}/{ann.userid}").json()["notes"][1] == first.json()
    page = admin.get(path, params={"limit": 1}).json()
    rest = admin.get(path, params={"limit": 1, "cursor": page["next"]}).json()
    assert [each["text"] for each in rest["items"]] == ["Prefers\nmornings."]
    assert admin.post(path, {"text": ""}).status_code == 422
    assert ann.get(path).status_code == 403
    assert "mornings" not in ann.get("/v1/users/me").text
    trail = admin.get("/v1/admin/audit", params={"service": "users", "subject": ann.userid}).json()["items"]
    assert ("add customer note", {}) in [(each["action"], each["details"]) for each in trail]


def test_what_went_out_is_listed_and_a_new_link_is_sent(nobody, admin, mail, environment):
    email = new_email()
    registered = nobody.post("/v1/users", {"name": "Late", "email": email, "password": PASSWORD})
    userid, first = registered.json()["userid"], mail(email)
    path = f"{LIST}/{userid}/emails"
    (sent,) = admin.get(path).json()["items"]
    assert (sent["kind"], sent["by"]) == ("verification", "customer")
    key = {"Idempotency-Key": secrets.token_hex(8)}
    again = admin.post(path, {"kind": "verification"}, headers=key)
    assert (again.status_code, again.json()["by"]) == (201, f"user {admin.userid}")
    assert admin.post(path, {"kind": "verification"}, headers=key).json() == again.json()
    second = mail(email, after=1)
    assert second != first
    assert len([each for each in read_mail(Path(environment["MAIL_DIR"]), email) if each.text]) == 2
    assert nobody.post("/v1/users/verify", {"token": second}).status_code == 200
    assert admin.get(f"{LIST}/{userid}").json()["verified"]
    refused = admin.post(path, {"kind": "verification"})
    assert (refused.status_code, refused.json()["code"]) == (409, "not_sent_again")
    assert admin.post(path, {"kind": "change-of-email"}).status_code == 409
    assert admin.post(path, {"kind": "password-changed"}).status_code == 409
    assert admin.post(path, {"kind": "anything"}).status_code == 422
    assert admin.post(path, {"kind": "new-password"}).status_code == 201
    reset = {"token": mail(email, after=2), "password": "another quiet evening"}
    assert nobody.post("/v1/password-resets/confirm", reset).status_code == 204
    kinds = [each["kind"] for each in admin.get(path).json()["items"]]
    assert kinds == ["password-changed", "new-password", "verification", "verification"]
    assert first not in admin.get(path).text
    assert log_in(nobody, email, "another quiet evening").userid == userid


def test_a_change_of_email_is_sent_again_to_the_new_address(admin, person, mail):
    ann, new = person(), new_email()
    assert ann.patch("/v1/users/me", {"email": new, "current_password": PASSWORD}).status_code == 200
    first = mail(new)
    assert admin.post(f"{LIST}/{ann.userid}/emails", {"kind": "change-of-email"}).status_code == 201
    second = mail(new, after=1)
    assert second != first
    assert ann.post("/v1/users/verify", {"token": second, "password": PASSWORD}).status_code == 200
    assert admin.get(f"{LIST}/{ann.userid}").json()["email"] == new


def test_every_email_is_previewed_in_each_language_and_its_link_opens_nothing(admin, person, nobody):
    ann = person(name="Ann Preview")
    for kind in (
        "verification",
        "new-password",
        "change-of-email",
        "password-changed",
        "move-requested",
        "account-exists",
        "stock-alert",
        "stock-alert-question",
    ):
        path = f"{LIST}/{ann.userid}/emails/{kind}"
        english, german = (admin.get(path, params={"language": code}).json() for code in ("en", "de"))
        assert (english["to"], german["language"]) == (ann.email, "de")
        assert english["subject"] != german["subject"], kind
        same = {line for line in english["text"].split("\n") if " " in line} & set(german["text"].split("\n"))
        assert not same, f"{kind} in German has lines in English"
        assert english["text"].split("\n")[0] in english["html"]
    shown = admin.get(f"{LIST}/{ann.userid}/emails/new-password").json()
    assert "token=only-to-look-at" in shown["text"]
    used = nobody.post("/v1/password-resets/confirm", {"token": "only-to-look-at", "password": PASSWORD})
    assert used.status_code == 400
    assert [each["kind"] for each in admin.get(f"{LIST}/{ann.userid}/emails").json()["items"]] == [
        "verification"
    ], "who looks at an e-mail has sent none"
    assert admin.get(f"{LIST}/{ann.userid}/emails/none").status_code == 404


def test_staff_read_and_note_and_only_admins_export(admin, person, nobody):
    bob, ann = person(name="Bob"), person(name="Ann")
    assert admin.put(f"/v1/admin/staff/{bob.userid}", {"roles": ["staff"]}).status_code == 200
    staff = log_in(nobody, bob.email)
    assert staff.get(LIST).status_code == 200
    assert staff.post(f"{LIST}/{ann.userid}/notes", {"text": "by staff"}).status_code == 201
    assert staff.post(f"{LIST}/{ann.userid}/export").status_code == 403
    assert nobody.get(LIST).status_code == 401
    assert ann.get(f"{LIST}/{ann.userid}").status_code == 403


def test_an_erasure_with_a_wrong_password_is_refused_whoever_it_is_of(admin, person):
    ann = person()
    path = f"/v1/admin/users/{ann.userid}"
    refused = admin.delete(path, json={"password": "not the admin's"})
    assert (refused.status_code, refused.json()["code"]) == (403, "wrong_password")
    assert ann.get("/v1/users/me").status_code == 200
    assert admin.delete(path, json={"password": "a password of the admin"}).status_code == 204


def test_notes_and_emails_go_with_the_person(admin, person, database):
    ann = person(name="Ann Gone")
    admin.post(f"{LIST}/{ann.userid}/notes", {"text": f"about {ann.email}"})
    assert admin.delete(f"/v1/admin/users/{ann.userid}").status_code == 204
    assert [doc["type"] for doc in database.partition(f"user{ann.userid}").all()] == ["user"]


def test_notes_of_sent_emails_are_kept_for_a_year(database, person, deps):
    ann = person()
    partition = database.partition(f"user{ann.userid}")
    (sent,) = partition.all("email-")
    assert sent["expires"][:4] == str(int(sent["date"][:4]) + 1)
    remove_expired(deps)
    assert len(partition.all("email-")) == 1
    database.put({**sent, "expires": "2020-01-01T00:00:00.000Z"})
    remove_expired(deps)
    assert partition.all("email-") == []
