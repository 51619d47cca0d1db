"""The audit trail of one service: months, spans, filters, pages, and what each costs."""

from datetime import UTC, datetime

import pytest

from shared.audit import AUDIT, audit_partition
from shared.audit_pointers import STATE, complete_pointers, pointers_to
from shared.couch import document_id, time_ordered_id
from tests.services.users.conftest import calls
from tests.waiting import eventually

MONTHS = ("2021-03", "2021-04", "2021-06")
"""Of a time that no other test writes entries in."""


@pytest.fixture(scope="module")
def old_entries(database):
    """Two a day on two days of three months, by two people, about three things: by an older version, so `prepare` makes them found."""
    made = []
    for month in MONTHS:
        for day in (1, 28):
            for hour, actor in ((0, "ann"), (23, "bob")):
                moment = datetime.fromisoformat(f"{month}-{day:02d}T{hour:02d}:30:00+00:00").astimezone(UTC)
                made.append(
                    AUDIT.build(
                        document_id(audit_partition(month), time_ordered_id(moment)),
                        actor=actor,
                        action="try out",
                        subject="" if day == 1 else f"thing-{month}",
                        details={},
                        date=moment.isoformat(),
                        **({"subjects": ["many-1", "many-2"]} if day == 1 else {}),
                    )
                )
    assert not any(each.error for each in database.put_many(made))
    for month in MONTHS:
        written = database.partition(audit_partition(month))
        eventually(lambda written=written: len(written.all()) >= len(made) // len(MONTHS))
    for _ in range(2):  # again: what is there stays
        complete_pointers(database, lambda line: None)
    return made


def listed(admin, query):
    answer = admin.get(f"/v1/admin/audit?service=users&{query}")
    assert answer.status_code == 200, answer.text
    return answer, [each["date"][:13] for each in answer.json()["items"]]


def found_by(admin, query):
    return len(listed(admin, f"{query}&limit=100")[1])


def test_a_span_ends_before_its_end_and_costs_a_query_a_month(admin, old_entries):
    answer, dates = listed(admin, "from=2021-03-28&to=2021-06-01T00:30:00Z")
    assert dates == [
        "2021-04-28T23",
        "2021-04-28T00",
        "2021-04-01T23",
        "2021-04-01T00",
        "2021-03-28T23",
        "2021-03-28T00",
    ]
    assert calls(answer)["partition"] == 4
    answer, dates = listed(admin, "from=2021-03-01&to=2021-07-01&limit=3")
    assert (dates, calls(answer)["partition"]) == (["2021-06-28T23", "2021-06-28T00", "2021-06-01T23"], 1)
    answer, dates = listed(admin, "month=2021-04&limit=100")
    assert (len(dates), calls(answer)) == (4, calls(answer) | {"partition": 1, "global": 0, "write": 0})


def test_pages_over_months_repeat_and_miss_nothing(admin, old_entries):
    seen, query = [], "from=2021-01-01&to=2021-12-01&limit=5"
    cursor = ""
    while cursor is not None:
        answer, dates = listed(admin, query + (cursor and f"&cursor={cursor}"))
        seen, cursor = seen + [each["id"] for each in answer.json()["items"]], answer.json()["next"]
        assert len(dates) in (5, 2)
    assert seen == sorted((doc["_id"].partition(":")[2] for doc in old_entries), reverse=True)


def test_an_actor_and_a_subject_are_found_at_any_time_for_one_partition_query(admin, old_entries):
    for query, expected in (
        ("actor=ann", 6),
        ("subject=many-2", 6),
        ("subject=many-2&actor=bob", 3),
        ("subject=thing-2021-04", 2),
        ("subject=thing-2021-04&actor=nobody", 0),
        ("actor=bob&from=2021-04-02&to=2021-06-28", 2),
    ):
        eventually(lambda query=query, expected=expected: found_by(admin, query) == expected)
        answer, dates = listed(admin, f"{query}&limit=100")
        assert (calls(answer)["partition"], calls(answer)["global"]) == (1, 0)
        assert calls(answer)["read"] <= 2  # the entries, and who asks
        assert dates == sorted(dates, reverse=True)
    first = listed(admin, "actor=ann&limit=4")[0].json()
    rest, dates = listed(admin, f"actor=ann&limit=4&cursor={first['next']}")
    assert (len(dates), rest.json()["next"]) == (2, None)


def test_a_subject_s_acts_by_one_of_many_actors_are_all_found(admin, old_entries):
    """Three of six, a page each: what the others did stands between."""
    seen, cursor = [], ""
    while cursor is not None:
        answer, dates = listed(admin, f"subject=many-1&actor=ann&limit=1{cursor and f'&cursor={cursor}'}")
        seen, cursor = seen + dates, answer.json()["next"]
    assert seen == ["2021-06-01T00", "2021-04-01T00", "2021-03-01T00"]


def test_an_entry_whose_write_was_killed_before_its_pointers_is_found_after_prepare(admin, database):
    """And a pointer whose entry was never written is passed over."""
    moment = datetime(2019, 5, 3, tzinfo=UTC)
    entry = AUDIT.build(
        document_id(audit_partition("2019-05"), time_ordered_id(moment)),
        actor="zoe",
        action="try out",
        subject="of 2019: a thing",
        details={},
        date=moment.isoformat(),
    )
    lost = {**entry, "_id": document_id(audit_partition("2019-05"), time_ordered_id(moment))}
    written = [entry, *pointers_to(lost)]
    assert not any(each.error for each in database.put_many(written))
    assert listed(admin, "actor=zoe")[1] == []
    database.put_local(STATE, {**(database.get_local(STATE) or {}), "month": "audit2019-05"})
    complete_pointers(database, lambda line: None)
    for query in ("actor=zoe", "subject=of 2019: a thing", "actor=zoe&subject=of 2019: a thing"):
        assert listed(admin, query)[1] == ["2019-05-03T00"], query


def test_what_cannot_be_asked_is_named(admin):
    for query, field in (
        ("from=2021-06-01&to=2021-05-01", "from"),
        ("from=2019-01-01&to=2021-05-01", "from"),
        ("from=2021-13-01", "from"),
        ("from=never", "from"),
        ("month=2021-00", "month"),
        ("service=storefront", "service"),
    ):
        answer = admin.get(f"/v1/admin/audit?{query}")
        assert answer.status_code == 422, query
        assert field in answer.json()["errors"], answer.text


def test_a_trail_with_gaps_is_not_shown(admin):
    """Here, neither products nor orders is running."""
    answer = admin.get("/v1/admin/audit")
    assert (answer.status_code, answer.headers["Retry-After"].isdigit()) == (503, True)


def test_an_act_costs_one_write_more(admin, person):
    ann = person()
    answer = admin.put(f"/v1/admin/users/{ann.userid}/group", {"group": "trade"})
    assert (answer.status_code, calls(answer)["write"]) == (200, 2)
    (entry,) = listed(admin, f"subject={ann.userid}")[0].json()["items"]
    assert entry["details"] == {"before": "", "after": "trade"}
    assert entry["request"] == answer.headers["X-Request-ID"]


def test_a_step_up_is_kept_and_a_wrong_password_too(admin, person):
    bob = person(name="Bob")
    place = f"/v1/admin/users/{bob.userid}"
    assert admin.put(f"/v1/admin/staff/{bob.userid}", {"roles": ["staff"]}).status_code == 200
    assert admin.delete(place, json={"password": "not the password"}).status_code == 403
    failed, erase, *_ = listed(admin, f"subject={bob.userid}")[0].json()["items"]
    assert (failed["action"], failed["details"]) == ("erase: failed", {"code": "wrong_password"})
    assert (erase["action"], erase["details"]) == ("erase", {"step_up": "password"})


def test_staff_who_change_their_own_account_leave_an_entry(admin, person, nobody):
    entries = listed(admin, f"subject={admin.userid}&limit=1")
    assert admin.patch("/v1/users/me", {"name": "Admin"}).status_code == 200
    (entry,) = listed(admin, f"subject={admin.userid}&limit=1")[0].json()["items"]
    assert (entry["action"], entry["details"]) == ("change own account", {"fields": ["name"]})
    assert entry not in entries[0].json()["items"]
    ann = person()
    assert ann.patch("/v1/users/me", {"name": "Anna"}).status_code == 200
    assert listed(admin, f"subject={ann.userid}")[1] == []
