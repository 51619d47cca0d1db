"""The pure parts: cursors, redaction, settings, ETags, problems of other services."""

import base64
import time
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.client import error_from
from shared.errors import Conflict, Invalid, TooManyRequests, Unavailable
from shared.logs import redact
from shared.settings import BadSettings, DatabaseSettings, WebSettings, load, rows, setting
from shared.web.paging import BadCursor, sign, unsign

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner),
    max_leaves=5,
)


@given(PLAIN, PLAIN)
def test_a_cursor_comes_back_as_it_was(cursor, query):
    assert unsign(sign(cursor, query, secret="s"), query, secret="s") == cursor


def test_a_cursor_of_another_query_key_or_text_is_refused():
    text = sign([1, "a"], "query", secret="s")
    raw = bytearray(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    raw[-1] ^= 1
    changed = base64.urlsafe_b64encode(bytes(raw)).rstrip(b"=").decode()
    for damaged, query, secret in [
        (text, "other", "s"),
        (text, "query", "t"),
        (changed, "query", "s"),
        (text[:-4], "query", "s"),
        ("", "query", "s"),
        ("é", "query", "s"),
        ("!!!!", "query", "s"),
    ]:
        with pytest.raises(BadCursor):
            unsign(damaged, query, secret=secret)
    assert unsign(None, "query", secret="s") is None


@pytest.mark.parametrize(
    "part",
    [
        "a",
        "eyJ",
        "eyJ-",
        "a.",
        "://",
        "a@",
        "@",
        "Bearer",
        "Bearer ",
        " ",
        "1 ",
        "eyJaaaaaaaa.",
        "a.b@",
        "://a:",
    ],
)
def test_redaction_takes_as_long_as_the_text_is(part):
    """Eight times the text, about eight times the work; what looked at each place again took sixty-four times."""
    assert work_of_redaction(part * 40_000) < 24 * work_of_redaction(part * 5_000) + 0.002


def work_of_redaction(text: str) -> float:
    """Seconds of this process's own work, the least of some tries."""
    tries = []
    for _ in range(5):
        began = time.process_time()
        redact(text)
        tries.append(time.process_time() - began)
    return min(tries)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("mail to ann.b+x@example.co.uk now", "mail to [email] now"),
        ("KeyError('ann@example.com')", "KeyError('[email]')"),
        ("Bearer eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ1In0.c2ln", "[auth]"),
        ("token eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ1In0.c2ln!", "token [jwt]!"),
        ("http://admin:secret@127.0.0.1:5984/x", "http[userinfo]127.0.0.1:5984/x"),
        ("card 4242 4242 4242 4242.", "card [card]."),
        ("order 123456 took 1795217361 ms", "order 123456 took 1795217361 ms"),
    ],
)
def test_logs_are_redacted(text, left):
    assert redact(text) == left


@dataclass(frozen=True, kw_only=True)
class Example(WebSettings):
    tries: int = setting("TRIES", 3, "how often")
    token: str = setting("TOKEN", help="shown to the bank", secret=True)


def test_a_missing_setting_is_named_with_all_others():
    with pytest.raises(BadSettings) as caught:
        load(Example, {"TRIES": "many"})
    for name in ("SECRET_KEY", "SERVICE_SECRET", "TOKEN", "REDIS_URL", "TRIES is 'many'"):
        assert name in str(caught.value)


def test_no_secret_has_a_default_outside_local_mode():
    with pytest.raises(BadSettings) as caught:
        load(DatabaseSettings, {"USERS_URL": "x", "REDIS_URL": "x", "COUCH_URL": "x"})
    assert "SECRET_KEY" in str(caught.value)
    assert "SERVICE_SECRET" in str(caught.value)
    assert load(DatabaseSettings, {"AISLE_ENV": "local"}).secret_key


def test_a_secret_is_not_in_the_repr():
    settings = load(Example, {"AISLE_ENV": "local", "TOKEN": "hush", "SECRET_KEY": "psst", "TRIES": "7"})
    assert settings.tries == 7
    assert "hush" not in repr(settings)
    assert "psst" not in repr(settings)


def test_an_unknown_mode_is_refused():
    with pytest.raises(BadSettings, match="AISLE_ENV"):
        load(Example, {"AISLE_ENV": "prod"})


def test_rows_are_what_the_readme_prints():
    assert ("TRIES", "`3`", "how often") in list(rows(Example))
    assert ("TOKEN", "required", "shown to the bank") in list(rows(Example))


@pytest.mark.parametrize(
    ("status", "body", "kind", "code"),
    [
        (409, b'{"code": "sold_out", "detail": "d", "missing": ["p"]}', Conflict, "sold_out"),
        (422, b'{"code": "invalid", "detail": "d", "errors": {"a": ["b"]}}', Invalid, "invalid"),
        (500, b"<html>", Unavailable, "unavailable"),
        (502, b"[]", Unavailable, "unavailable"),
    ],
)
def test_another_services_problem_keeps_its_meaning(status, body, kind, code):
    error = error_from(status, body)
    assert type(error) is kind
    assert error.code == code


def test_members_of_a_problem_survive():
    assert error_from(409, b'{"code": "x", "missing": ["p"]}').extra["missing"] == ["p"]
    assert error_from(422, b'{"errors": {"a": ["b"]}}').errors == {"a": ["b"]}
    assert error_from(429, b"{}", "7").retry_after == 7
    assert isinstance(error_from(429, b"{}"), TooManyRequests)
