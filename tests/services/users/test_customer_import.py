"""Customers of another shop come in from a file: accounts, addresses, notes, consent, and passwords whose hashes can be checked."""

import base64
import csv
import hashlib
import io
import json
import secrets

import argon2
import bcrypt
import pytest

from services.users.documents import auth_id, claim_id
from tests.maildir import read_mail
from tests.services.users.conftest import PASSWORD, calls, new_email
from tests.waiting import eventually

IMPORT, EXPORT = "/v1/admin/customers/import", "/v1/admin/customers/export"
HOME = {"line1": "1 Mill Lane", "city": "York", "postcode": "YO1 7PR", "country": "GB"}
OLD = "old password of mine"


def lines(*customers):
    return "".join(json.dumps(each) + "\n" for each in customers)


def imported(admin, content, mime="application/x-ndjson", status=200, query="", **headers):
    data = content.encode() if isinstance(content, str) else content
    answer = admin.call("POST", IMPORT + query, data=data, headers={"Content-Type": mime, **headers})
    assert answer.status_code == status, answer.text
    return answer


def customer_of(admin, email):
    (found,) = eventually(lambda: admin.get("/v1/admin/customers", params={"q": email}).json()["items"])
    return admin.get(f"/v1/admin/customers/{found['userid']}").json()


def django(password, digest="sha256"):
    made = hashlib.pbkdf2_hmac(digest, password.encode(), b"seasalt", 1000)
    return f"pbkdf2_{digest}$1000$seasalt${base64.b64encode(made).decode()}"


def passlib(password):
    def adapted(data):
        return base64.b64encode(data).decode().rstrip("=").replace("+", ".")

    salt = b"salt \xfb\xff of sea"
    made = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, 1000)
    return f"$pbkdf2-sha512$1000${adapted(salt)}${adapted(made)}"


def by_bcrypt(password):
    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(4)).decode()


HASHES = {
    "argon2id": lambda: argon2.PasswordHasher(memory_cost=64, time_cost=1).hash(OLD),
    "argon2i": lambda: argon2.PasswordHasher(memory_cost=64, time_cost=1, type=argon2.Type.I).hash(OLD),
    "Django's argon2": lambda: f"argon2{argon2.PasswordHasher(memory_cost=64, time_cost=1).hash(OLD)}",
    "bcrypt": lambda: by_bcrypt(OLD),
    "PHP's bcrypt": lambda: by_bcrypt(OLD).replace("$2b$", "$2y$", 1),
    "Django's bcrypt": lambda: f"bcrypt${by_bcrypt(OLD)}",
    "Django's digested bcrypt": lambda: (
        f"bcrypt_sha256${by_bcrypt(hashlib.sha256(OLD.encode()).hexdigest())}"
    ),
    "Django's PBKDF2": lambda: django(OLD),
    "Django's PBKDF2, SHA-1": lambda: django(OLD, "sha1"),
    "passlib's PBKDF2": lambda: passlib(OLD),
}


def test_what_a_line_says_is_there_once_however_often_it_is_imported(admin, environment):
    email = new_email()
    line = {
        "email": f"  {email.upper()} ",
        "name": "Ada Byron",
        "group": "trade",
        "email_verified": True,
        "created": "2019-05-04",
        "newsletter": True,
        "language": "de",
        "addresses": [HOME, {"name": "Office", "address": "2 High Street\nLeeds LS1 4DY", "default": True}],
        "notes": ["Rings twice.", "Wants invoices."],
    }
    before = len(list(read_mail(environment["MAIL_DIR"])))
    first = imported(admin, lines(line)).json()
    assert first == {
        "lines": 1,
        "created": 1,
        "updated": 0,
        "unchanged": 0,
        "without_password": 1,
        "failures": 0,
        "failed": [],
    }
    found = customer_of(admin, email)
    assert (found["name"], found["email"], found["group"]) == ("Ada Byron", email, "trade")
    assert (found["email_verified"], found["created"]) == (True, "2019-05-04T00:00:00.000Z")
    assert found["language"] == "de"
    assert (found["preferences"]["newsletter"], found["preferences"]["language"]) == (True, "de")
    assert [(each["name"], each["default"]) for each in found["addresses"]] == [
        ("Ada Byron", False),
        ("Office", True),
    ]
    assert found["addresses"][0]["postcode"] == "YO1 7PR"
    assert {each["text"] for each in found["notes"]} == {"Rings twice.", "Wants invoices."}
    again = imported(admin, lines({**line, "name": "Another"})).json()
    assert (again["created"], again["unchanged"]) == (0, 1)
    assert customer_of(admin, email) == found
    assert len(list(read_mail(environment["MAIL_DIR"]))) == before


def test_lines_that_are_wrong_are_named_and_the_others_go_in(admin):
    good, other = new_email(), new_email()
    answer = imported(
        admin,
        "\n".join(
            [
                json.dumps({"email": good, "name": "Good"}),
                "{no json",
                "",
                json.dumps({"email": "nobody", "name": "No"}),
                json.dumps({"email": new_email()}),
                json.dumps({"email": new_email(), "name": "No", "colour": "red"}),
                json.dumps({"email": new_email(), "name": "No", "addresses": [{**HOME, "postcode": "?"}]}),
                json.dumps({"email": new_email(), "name": "No", "newsletter": "perhaps"}),
                json.dumps([]),
                json.dumps({"email": new_email(), "name": "x" * 300_000}),
                json.dumps({"email": new_email(), "name": "No", "created": "last year"}),
                json.dumps({"email": good, "name": "Twice in the file"}),
                json.dumps({"email": other, "name": "Other"}),
            ]
        ),
    ).json()
    assert (answer["created"], answer["unchanged"], answer["lines"]) == (2, 1, 12)
    assert {each["line"]: each["code"] for each in answer["failed"]} == {
        2: "malformed_json",
        10: "line_too_long",
        **dict.fromkeys((4, 5, 6, 7, 8, 9, 11), "invalid"),
    }
    details = {each["line"]: each["detail"] for each in answer["failed"]}
    for line, name in (
        (4, "email"),
        (5, "name"),
        (6, "colour"),
        (7, "postcode"),
        (8, "newsletter"),
        (11, "date"),
    ):
        assert name in details[line], details[line]
    assert customer_of(admin, good)["name"] == "Good"


@pytest.mark.parametrize("kind", HASHES)
def test_who_has_a_hash_of_another_shop_logs_in_with_the_old_password(admin, nobody, database, kind):
    email = new_email()
    line = {"email": email, "name": "Ada", "email_verified": True, "password_hash": HASHES[kind]()}
    answer = imported(admin, lines(line)).json()
    assert (answer["created"], answer["without_password"]) == (1, 0)
    log_in = {"email": email, "password": OLD}
    assert nobody.post("/v1/sessions", {**log_in, "password": f"{OLD}x"}).status_code == 401
    session = nobody.post("/v1/sessions", log_in)
    assert session.status_code in (200, 201), session.text
    stored = database.get(auth_id(session.json()["user"]["userid"]))["password"]
    assert stored.startswith("$argon2id$")
    assert stored != line["password_hash"]
    assert nobody.post("/v1/sessions", log_in).status_code == session.status_code


@pytest.mark.parametrize(
    "stored",
    [
        "",
        "$P$BcuMpNhxvvOXc0M5sHuPDsmL2nZPGz1",
        "5f4dcc3b5aa765d61d8327deb882cf99",
        "$2b$31$" + "a" * 53,
        "pbkdf2_sha256$99000000$salt$" + "A" * 44,
        "$argon2id$v=19$m=4194304,t=3,p=4$c29tZXNhbHQ$" + "A" * 43,
    ],
)
def test_who_has_no_hash_that_can_be_checked_sets_a_password_by_email(admin, nobody, mail, stored):
    email = new_email()
    answer = imported(
        admin, lines({"email": email, "name": "Ada", "email_verified": True, "password_hash": stored})
    )
    assert (answer.json()["created"], answer.json()["without_password"]) == (1, 1)
    for guess in ("", "nobody has this password", stored or "x"):
        assert nobody.post("/v1/sessions", {"email": email, "password": guess}).status_code in (401, 422)
    assert nobody.post("/v1/password-resets", {"email": email}).status_code == 202
    new = {"token": mail(email), "password": "three blue kettles"}
    assert nobody.post("/v1/password-resets/confirm", new).status_code == 204
    session = nobody.post("/v1/sessions", {"email": email, "password": new["password"]})
    assert session.status_code in (200, 201), session.text


def test_an_email_belongs_to_one_account(admin, nobody, person):
    ann, email = person(), new_email()
    answer = imported(
        admin, lines({"email": ann.email, "name": "Not Ann"}, {"email": email, "name": "Ada"})
    ).json()
    assert (answer["created"], answer["unchanged"]) == (1, 1)
    assert ann.get("/v1/users/me").json()["name"] == "Ann"
    made = nobody.post("/v1/users", {"name": "Eve", "email": email, "password": PASSWORD})
    assert (made.status_code, made.json()["code"]) == (409, "email_taken")


def test_an_account_that_a_crash_has_left_out_is_made_when_the_file_comes_again(admin, database):
    email = new_email()
    line = {"email": email, "name": "Ada", "addresses": [HOME], "notes": ["Rings twice."]}
    imported(admin, lines(line))
    userid = database.get(claim_id(email))["userid"]
    whole = admin.get(f"/v1/admin/customers/{userid}").json()
    account = database.get(auth_id(userid))
    database.delete(account["_id"], account["_rev"])
    assert imported(admin, lines(line)).json()["created"] == 1
    again = admin.get(f"/v1/admin/customers/{userid}").json()
    assert (again["addresses"], again["notes"]) == (whole["addresses"], whole["notes"])


def test_rows_of_a_csv_file_behind_a_customer_s_own_add_addresses_and_notes(admin):
    first, second = new_email(), new_email()
    content = (
        "\ufeffemail,name,newsletter,address_name,line1,city,postcode,country,phone,note\n"
        f'{first},Ada,yes,Home,1 Mill Lane,York,YO1 7PR,GB,\'+44 1904 123456,"Rings\ntwice, always"\n'
        f"{first},,,Work,2 High Street,Leeds,LS1 4DY,GB,,'=1+1\n"
        f"{second},Bob,no,,,,,,,\n"
        f"{new_email()},Long,no,,,,,,,,more\n"
    )
    answer = imported(admin, content, "text/csv").json()
    assert (answer["created"], [each["line"] for each in answer["failed"]]) == (2, [6])
    found = customer_of(admin, first)
    assert [each["city"] for each in found["addresses"]] == ["York", "Leeds"]
    assert found["addresses"][0]["phone"] == "+44 1904 123456"
    assert {each["text"] for each in found["notes"]} == {"Rings\ntwice, always", "=1+1"}
    assert customer_of(admin, second)["preferences"]["newsletter"] is False


def test_a_customer_export_of_shopify_comes_in_as_it_is(admin):
    email = new_email()
    header = "Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Default Address Company,Default Address Address1,Default Address Address2,Default Address City,Default Address Province Code,Default Address Country Code,Default Address Zip,Default Address Phone,Phone,Total Spent,Note,Tags"
    row = f"1,Ada,Byron,{email},yes,,1 Mill Lane,,York,,GB,YO1 7PR,'+441904123456,,12.00,Rings twice.,vip"
    answer = imported(admin, f"{header}\n{row}\n", "text/csv", query="?format=shopify").json()
    assert answer["created"] == 1, answer
    found = customer_of(admin, email)
    assert (found["name"], found["email_verified"], found["preferences"]["newsletter"]) == (
        "Ada Byron",
        False,
        True,
    )
    assert [each["postcode"] for each in found["addresses"]] == ["YO1 7PR"]
    assert [each["text"] for each in found["notes"]] == ["Rings twice."]


def test_an_export_comes_in_again_in_another_shop_and_changes_nothing_here(admin):
    mark = secrets.token_hex(4)
    line = {
        "email": f"export-{mark}@example.com",
        "name": "=Ada",
        "newsletter": True,
        "group": "trade",
        "addresses": [HOME, {**HOME, "line1": "2 Mill Lane", "default": True}],
        "notes": ["One", "Two", "Three"],
    }
    imported(admin, lines(line))
    exported = admin.post(EXPORT)
    assert exported.status_code == 200
    text = exported.content.decode()
    assert "argon2" not in text
    again = imported(admin, text, "text/csv").json()
    assert (again["created"], again["failed"]) == (0, [])
    rows = [row for row in csv.reader(io.StringIO(text)) if mark in row[0]]
    assert len(rows) == 3
    buffer = io.StringIO()
    csv.writer(buffer).writerows([text.splitlines()[0].split(","), *rows])
    moved = imported(admin, buffer.getvalue().replace("export-", "moved-"), "text/csv").json()
    assert moved["created"] == 1, moved
    here, there = customer_of(admin, line["email"]), customer_of(admin, f"moved-{mark}@example.com")
    for name in ("name", "group", "created", "preferences", "addresses"):
        assert there[name] == here[name], name
    assert {each["text"] for each in there["notes"]} == {"One", "Two", "Three"}


def test_progress_is_streamed_and_told_under_a_name(admin):
    many = [{"email": new_email(), "name": f"Number {number}"} for number in range(250)]
    name = f"import-{secrets.token_hex(4)}"
    told = imported(admin, lines(*many), query=f"?id={name}", Accept="application/x-ndjson")
    states = [json.loads(each) for each in told.text.splitlines()]
    assert [each["created"] for each in states] == [100, 200, 250, 250]
    assert [each["done"] for each in states] == [False, False, False, True]
    progress = admin.get(f"/v1/admin/customers/imports/{name}").json()
    assert (progress["created"], progress["done"]) == (250, True)
    assert admin.get("/v1/admin/customers/imports/never").status_code == 404
    rest = imported(admin, lines(*many), query="?from_line=201").json()
    assert (rest["lines"], rest["unchanged"]) == (50, 50)


def test_a_hundred_customers_cost_as_many_calls_as_one(admin):
    many = [{"email": new_email(), "name": f"Number {number}", "notes": ["x"]} for number in range(101)]
    one, hundred = imported(admin, lines(many[0])), imported(admin, lines(*many[1:]))
    assert (one.json()["created"], hundred.json()["created"]) == (1, 100)
    assert calls(one) == calls(hundred)
    assert calls(one)["write"] == 4, "the audit trail, claims, what belongs to the accounts, accounts"


def test_a_file_that_is_none_is_refused_as_a_whole(admin, person):
    for content, mime, status in (
        ("name\nAda\n", "text/csv", 400),
        ("email,name,colour\n", "text/csv", 400),
        (b"email,name\n\xff,x\n", "text/csv", 400),
        ("{}", "application/json", 415),
    ):
        imported(admin, content, mime, status=status)
        imported(admin, content, mime, status=status, Accept="application/x-ndjson")
    imported(admin, "Email\n", "application/x-ndjson", status=415, query="?format=shopify")
    ann = person()
    assert ann.call("POST", IMPORT, data=b"", headers={"Content-Type": "text/csv"}).status_code == 403
    assert ann.post(EXPORT).status_code == 403
