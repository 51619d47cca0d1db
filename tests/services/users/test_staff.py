"""Roles, staff management and the audit trail."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from services.users.documents import auth_id
from services.users.security.keys import load_keys
from shared.database import TIMEOUT
from tests.forwarding import Forward, Response, forwarding
from tests.patience import patient
from tests.processes import ROOT
from tests.services.users.conftest import ADMIN, PASSWORD, log_in
from tests.waiting import eventually


def test_the_command_may_be_repeated(admin, create_admin):
    code, printed = create_admin()
    assert (code, "is admin already" in printed) == (0, True)
    assert ADMIN[1] not in printed


def test_the_command_waits_for_a_plan_whose_rates_are_used_up(admin, create_admin, couch_url):
    """As at a first start, where everything asks the database at once."""
    refused: list[float] = []

    def answer(_method: str, _path: str, _body: bytes, forward: Forward) -> Response:
        refused.append(time.monotonic())
        if refused[-1] - refused[0] > 2 * TIMEOUT:
            return forward()
        said = b'{"error":"too_many_requests","reason":"You\'ve exceeded your current limit of 5 requests per second."}'
        return 429, {"Content-Type": "application/json"}, said

    with forwarding(couch_url, answer) as url:
        code, printed = create_admin(COUCH_URL=url)
    assert (code, "is admin already" in printed) == (0, True), printed


def test_a_key_is_made_once_and_readable_by_its_owner_only(tmp_path):
    command = [sys.executable, "-m", "deploy.signing_key", str(tmp_path / "jwt.pem")]
    for _ in range(2):
        assert subprocess.run(command, cwd=ROOT, check=False, capture_output=True, timeout=60).returncode == 0
        key = (tmp_path / "jwt.pem").read_bytes()
    assert (tmp_path / "jwt.pem").stat().st_mode & 0o777 == 0o600
    assert load_keys(tmp_path / "jwt.pem", "", seconds=60).access_token("u", "s", [])
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=60)
    assert (tmp_path / "jwt.pem").read_bytes() == key


def test_a_customer_and_nobody_see_no_admin_endpoint(nobody, person, admin):
    ann = person()
    paths = [
        rule
        for rule in nobody.get("/openapi.json").json()["paths"].items()
        if rule[0].startswith("/v1/admin")
    ]
    assert len(paths) >= 6
    for path, methods in paths:
        for method in methods.keys() & {"get", "post", "put", "delete"}:
            place = path.replace("{userid}", ann.userid)
            assert nobody.call(method.upper(), place, json={}).status_code == 401
            assert ann.call(method.upper(), place, json={}).status_code == 403


def test_staff_comes_and_goes_and_the_trail_shows_it(admin, person, nobody):
    bob = person(name="Bob")
    made = admin.post("/v1/admin/staff", {"email": bob.email, "roles": ["staff"]})
    assert (made.status_code, made.json()["roles"]) == (200, ["customer", "staff"])

    def as_staff():
        staff = log_in(nobody, bob.email)
        return staff if staff.get(f"/v1/admin/users/{bob.userid}").status_code == 200 else None

    staff = eventually(as_staff)
    assert staff.post("/v1/admin/users/lookup", {"email": bob.email}).json()["userid"] == bob.userid
    assert staff.post("/v1/admin/users/lookup", {"email": f"no.{bob.email}"}).status_code == 404
    assert staff.put(f"/v1/admin/staff/{bob.userid}", {"roles": ["admin"]}).status_code == 403, (
        "staff is not admin"
    )
    assert [each["email"] for each in admin.get("/v1/admin/staff").json()["items"]] == [ADMIN[0], bob.email]
    assert admin.put(f"/v1/admin/staff/{bob.userid}", {"roles": []}).json()["roles"] == ["customer"]
    assert log_in(nobody, bob.email).post("/v1/admin/users/lookup", {"email": bob.email}).status_code == 403
    trail = admin.get("/v1/admin/audit?service=users&limit=2").json()
    assert [entry["details"]["after"] for entry in trail["items"]] == [["customer"], ["customer", "staff"]]
    assert {(entry["actor"], entry["subject"], entry["action"]) for entry in trail["items"]} == {
        (admin.userid, bob.userid, "set roles")
    }
    assert bob.email not in str(trail), (
        "the trail names people by id, so that erasing one leaves nothing there"
    )


def test_the_trail_pages_without_gaps(admin, person):
    ann = person()
    for number in range(5):
        admin.put(f"/v1/admin/users/{ann.userid}/closure", {"reason": f"number {number}"})
    seen, cursor = [], ""
    while cursor is not None:
        page = admin.get(f"/v1/admin/audit?service=users&limit=2{cursor and '&cursor=' + cursor}").json()
        seen += [entry["details"].get("reason") for entry in page["items"]]
        cursor = page["next"]
    assert seen[:5] == [f"number {number}" for number in reversed(range(5))]
    assert admin.get("/v1/admin/audit?service=users&month=2020-01").json()["items"] == []
    foreign = admin.get("/v1/admin/audit?service=users&limit=2").json()["next"]
    other = admin.get(f"/v1/admin/audit?service=users&month=2020-01&cursor={foreign}")
    assert (other.status_code, other.json()["code"]) == (400, "bad_cursor")


def test_the_shop_keeps_an_admin(admin):
    for leave in (
        lambda: admin.put(f"/v1/admin/staff/{admin.userid}", {"roles": ["customer"]}),
        lambda: admin.put(f"/v1/admin/users/{admin.userid}/closure", {"reason": "no", "password": ADMIN[1]}),
        lambda: admin.delete(f"/v1/admin/users/{admin.userid}", json={"password": ADMIN[1]}),
        lambda: admin.delete("/v1/users/me", json={"current_password": ADMIN[1]}),
    ):
        answer = patient(leave)
        assert (answer.status_code, answer.json()["code"]) == (409, "last_admin")


def test_an_admin_who_cannot_log_in_keeps_nobodys_shop(admin, person):
    bob = person(name="Bob")
    assert admin.put(f"/v1/admin/staff/{bob.userid}", {"roles": ["admin"]}).status_code == 200
    closure = {"reason": "left", "password": ADMIN[1]}
    assert admin.put(f"/v1/admin/users/{bob.userid}/closure", closure).status_code == 200
    test_the_shop_keeps_an_admin(admin)
    erased = admin.delete(f"/v1/admin/users/{bob.userid}", json={"password": ADMIN[1]})
    assert erased.status_code == 204, "one who is closed may go"


def test_who_works_here_is_closed_or_erased_with_the_admins_password_only(admin, person, nobody):
    bob = person(name="Bob")
    assert admin.put(f"/v1/admin/staff/{bob.userid}", {"roles": ["staff"]}).status_code == 200
    place = f"/v1/admin/users/{bob.userid}"
    ways = {
        "close": lambda **body: admin.put(f"{place}/closure", {"reason": "left", **body}),
        "erase": lambda **body: admin.delete(place, json=body or None),
    }
    for way in ways.values():
        refused = [way(), way(password=PASSWORD)]
        assert [answer.status_code for answer in refused] == [403, 403]
        assert [answer.json()["code"] for answer in refused] == ["password_required", "wrong_password"]
    staff = log_in(nobody, bob.email)
    borrowed = staff.delete("/v1/users/me")
    assert (borrowed.status_code, borrowed.json()["code"]) == (403, "password_required")
    assert ways["close"](password=ADMIN[1]).status_code == 200
    assert ways["erase"](password=ADMIN[1]).status_code == 204
    customer = person()
    assert admin.put(f"/v1/admin/users/{customer.userid}/closure", {"reason": "asked"}).status_code == 200
    assert admin.delete(f"/v1/admin/users/{customer.userid}").status_code == 204


def test_guessing_an_admins_password_with_their_session_ends_in_429(admin, person, nobody):
    bob, cal = person(name="Bob"), person(name="Cal")
    for each in (bob, cal):
        assert admin.put(f"/v1/admin/staff/{each.userid}", {"roles": ["admin"]}).status_code == 200
    thief, owner = log_in(nobody, bob.email), log_in(nobody, bob.email)
    place = f"/v1/admin/users/{cal.userid}/closure"
    guesses = [thief.put(place, {"reason": "x", "password": f"guess {n}"}).status_code for n in range(12)]
    assert guesses == [403] * 10 + [429] * 2
    assert owner.put(place, {"reason": "left", "password": PASSWORD}).status_code == 200, "another session"
    for each in (bob, cal):
        gone = admin.delete(f"/v1/admin/users/{each.userid}", json={"password": ADMIN[1]})
        assert gone.status_code == 204


def test_two_admins_who_dismiss_each_other_leave_one(admin, person, nobody):
    emails = [person(name=name).email for name in ("Ann", "Bob")]
    for email in emails:
        assert admin.post("/v1/admin/staff", {"email": email, "roles": ["admin"]}).status_code == 200
    pair = [log_in(nobody, email) for email in emails]
    keys = {"password": PASSWORD}
    assert pair[0].put(f"/v1/admin/staff/{admin.userid}", {"roles": []}).status_code == 200
    ways = [
        lambda one, other: one.put(f"/v1/admin/staff/{other.userid}", {"roles": ["staff"]}),
        lambda one, other: one.put(f"/v1/admin/users/{other.userid}/closure", {"reason": "rival", **keys}),
        lambda one, _: one.delete("/v1/users/me", json={"current_password": PASSWORD}),
    ]
    for way in [ways[0], ways[0], ways[1], ways[1], ways[2]]:
        with ThreadPoolExecutor(2) as at_once:
            answers = list(at_once.map(partial(decided, way), pair, reversed(pair)))
        assert sorted(answer.status_code // 100 for answer in answers) == [2, 4]
        (kept,) = [each for each in pair if is_admin(each, nobody)]
        for each in pair:
            kept.delete(f"/v1/admin/users/{each.userid}/closure")
            kept.put(f"/v1/admin/staff/{each.userid}", {"roles": ["admin"]})
        pair = [
            log_in(nobody, each.email) if each is not kept else kept for each in pair if way is not ways[2]
        ]
    assert kept.put(f"/v1/admin/staff/{admin.userid}", {"roles": ["admin"]}).status_code == 200
    eventually(lambda: admin.get("/v1/admin/staff").ok)  # the service asks now and then who lost a role
    assert admin.put(f"/v1/admin/staff/{kept.userid}", {"roles": []}).status_code == 200


def decided(way, *people):
    """On a busy machine one may be asked to come again while the other's change is made."""
    while (answer := way(*people)).status_code == 503:
        continue
    return answer


def is_admin(person, nobody):
    answer = nobody.post("/v1/sessions", {"email": person.email, "password": PASSWORD})
    return answer.status_code == 200 and "admin" in answer.json()["user"]["roles"]


def test_a_closed_account_cannot_log_in_or_refresh(admin, person, nobody):
    ann = person()
    assert (
        admin.put(f"/v1/admin/users/{ann.userid}/closure", {"reason": "asked for it"}).json()["active"]
        is False
    )
    assert nobody.post("/v1/sessions", {"email": ann.email, "password": PASSWORD}).status_code == 401
    assert nobody.post("/v1/sessions/refresh", {"refresh_token": ann.refresh_token}).status_code == 401
    assert ann.get("/v1/users/me").status_code == 401
    assert admin.delete(f"/v1/admin/users/{ann.userid}/closure").json()["active"] is True
    assert log_in(nobody, ann.email).userid == ann.userid


def test_a_failed_action_is_written_down_too(admin, person, database):
    ann = person()
    doc = database.get(auth_id(ann.userid))
    database.put({**doc, "active": False})
    assert admin.put(f"/v1/admin/staff/{ann.userid}", {"roles": ["staff"]}).status_code == 404
    newest = admin.get("/v1/admin/audit?service=users&limit=1").json()["items"][0]
    assert (newest["action"], newest["details"]) == ("set roles: failed", {"code": "no_such_user"})


def test_service_endpoints_want_the_service_secret(nobody, person, environment):
    ann = person()
    path = f"/v1/internal/users/{ann.userid}/checkout"
    for headers in (
        {},
        {"Authorization": "Service wrong"},
        {"Authorization": f"Bearer {ann.token}"},
        {"Authorization": "Service "},
    ):
        assert nobody.get(path, headers=headers).status_code == 401
    headers = {"Authorization": f"Service {environment['SERVICE_SECRET']}"}
    answer = nobody.get(path, headers=headers)
    assert (answer.status_code, answer.json()["email"], answer.json()["addresses"]) == (200, ann.email, [])
    assert nobody.get("/v1/internal/users/nobody/checkout", headers=headers).status_code == 404
