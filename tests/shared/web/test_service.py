"""What every service answers alike: problems, ids, timing, health, metrics, pages about itself."""

import re
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import pytest
from flask import Flask

from shared.settings import WebSettings
from shared.web import current_dependencies
from shared.web.api import make_api
from shared.web.docs import docs_blueprint
from shared.web.factory import Service

PROBLEM = {"type", "title", "status", "detail", "instance", "code"}


def is_problem(answer, status, code):
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    body = answer.get_json(force=True)
    assert body.keys() >= PROBLEM
    assert (body["status"], body["code"]) == (status, code)
    return body


@pytest.mark.parametrize(
    ("method", "path", "options", "status", "code"),
    [
        ("GET", "/nope", {}, 404, "not_found"),
        ("GET", "//v1/things", {}, 404, "not_found"),
        ("PATCH", "/v1/things", {}, 405, "method_not_allowed"),
        ("POST", "/v1/things", {"data": b"{", "content_type": "application/json"}, 400, "malformed_json"),
        (
            "POST",
            "/v1/things",
            {"data": b'{"size": NaN}', "content_type": "application/json"},
            400,
            "malformed_json",
        ),
        (
            "POST",
            "/v1/things",
            {"data": b'{"size": Infinity}', "content_type": "application/json"},
            400,
            "malformed_json",
        ),
        (
            "POST",
            "/v1/things",
            {"data": b'"\xff"', "content_type": "application/json"},
            400,
            "malformed_json",
        ),
        (
            "POST",
            "/v1/things",
            {"data": b'{"name": "\\ud800"}', "content_type": "application/json"},
            400,
            "malformed_json",
        ),
        (
            "POST",
            "/v1/things",
            {"data": b"[" * 5000, "content_type": "application/json"},
            400,
            "malformed_json",
        ),
        (
            "POST",
            "/v1/things",
            {"data": b"name=x", "content_type": "text/plain"},
            415,
            "unsupported_media_type",
        ),
        (
            "POST",
            "/v1/things",
            {"data": b"x" * (1024 * 1024 + 1), "content_type": "application/json"},
            413,
            "too_large",
        ),
        ("POST", "/v1/things", {"json": []}, 422, "invalid"),
        ("POST", "/v1/things", {"json": None}, 422, "invalid"),
        ("POST", "/v1/things", {}, 422, "invalid"),
        ("GET", "/v1/things?limit=0", {}, 422, "invalid"),
        ("GET", "/v1/things?limit=101", {}, 422, "invalid"),
        ("GET", "/v1/things?limit=x", {}, 422, "invalid"),
        ("GET", "/v1/things?cursor=x", {}, 400, "bad_cursor"),
        ("GET", "/v1/things/mine", {}, 401, "unauthorized"),
    ],
)
def test_bad_requests_are_problems(client, method, path, options, status, code):
    is_problem(client.open(path, method=method, **options), status, code)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 21}, "name"),
        ({"name": 5}, "name"),
        ({"name": None}, "name"),
        ({"name": "a\x00b"}, "name"),
        ({"name": "x", "size": 1.5}, "size"),
        ({"name": "x", "size": "1"}, "size"),
        ({"name": "x", "size": True}, "size"),
        ({"name": "x", "size": 10**18}, "size"),
        ({"name": "x", "new": 1}, "new"),
        ({"name": "x", "new": "true"}, "new"),
        ({"name": "x", "other": 1}, "other"),
        ({"name": "x", "price": {"amount": 1, "currency": "XXX"}}, "price.currency"),
        ({"name": "x", "price": {"amount": -1, "currency": "GBP"}}, "price.amount"),
        ({"name": "x", "price": 5}, "price"),
    ],
)
def test_wrong_fields_are_named(client, body, field):
    found = is_problem(client.post("/v1/things", json=body), 422, "invalid")
    assert list(found["errors"]) == [field]
    assert all(isinstance(message, str) for message in found["errors"][field])


def test_our_errors_keep_code_and_members(client):
    body = is_problem(client.post("/v1/things", json={"name": "sold out"}), 409, "sold_out")
    assert (body["title"], body["detail"], body["productid"]) == ("Sold out", "Come back later.", "p1")


def test_an_unexpected_error_tells_nothing_but_its_request_id(client):
    answer = client.post("/v1/things", json={"name": "broken"}, headers={"X-Request-ID": "abc-1"})
    body = is_problem(answer, 500, "internal_error")
    assert "ann@example.com" not in answer.text
    assert body["instance"] == "urn:aisle:request:abc-1"


def test_405_says_what_is_allowed(client):
    assert {"GET", "POST"} <= set(re.split(r",\s*", client.patch("/v1/things").headers["Allow"]))


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        ("abc-1", True),
        ("a" * 64, True),
        ("a" * 65, False),
        ("ann@example.com", False),
        ("a b", False),
        ("", False),
    ],
)
def test_a_request_id_is_taken_over_when_it_is_one(client, sent, taken):
    answered = client.get("/v1/things", headers={"X-Request-ID": sent}).headers["X-Request-ID"]
    assert (answered == sent) is taken
    assert answered


def test_every_answer_counts_its_database_calls(client):
    for path in ("/v1/things", "/nope", "/health/live"):
        timing = client.get(path).headers["Server-Timing"]
        assert re.fullmatch(
            r'partition;dur=0;desc="0", global;dur=0;desc="0", read;dur=0;desc="0", write;dur=0;desc="0"',
            timing,
        )


def test_pages_go_through_everything_once(client):
    seen, cursor = [], ""
    while cursor is not None:
        page = client.get(f"/v1/things?limit=20{cursor and '&cursor=' + cursor}").json
        seen += page["items"]
        cursor = page["next"]
    assert seen == list(range(45))


def test_if_match(client):
    assert client.put("/v1/things/one").status_code == 204
    assert client.put("/v1/things/one", headers={"If-Match": '"3-abc"'}).status_code == 204
    assert client.put("/v1/things/one", headers={"If-Match": '"2-x", "3-abc"'}).status_code == 204
    is_problem(client.put("/v1/things/one", headers={"If-Match": '"2-x"'}), 412, "precondition_failed")


def test_ready_while_redis_is_there(client):
    assert client.get("/health/live").json == {"status": "ok"}
    assert client.get("/health/ready").json["checks"] == {"redis": "ok"}


def test_metrics_count_by_route_never_by_path(client):
    client.get("/nope/ann@example.com")
    client.open("/v1/things", method="ANNOTATE")
    text = client.get("/metrics").text
    assert 'aisle_request_seconds_count{method="GET",route="(none)",service="demo",status="404"}' in text
    assert "ann@example.com" not in text
    assert 'method="other"' in text
    assert "ANNOTATE" not in text


def test_the_openapi_page_is_served_with_its_own_assets(client):
    spec = client.get("/openapi.json")
    assert spec.json["openapi"].startswith("3.1")
    assert client.get("/openapi.json", headers={"If-None-Match": spec.headers["ETag"]}).status_code == 304
    page = client.get("/docs")
    assert "/v1/things/mine" in page.text
    assert not re.search(r'(src|href)="(https?:)?//', page.text)
    assert "<script" not in page.text
    assert "unsafe" not in page.headers["Content-Security-Policy"]
    default = spec.json["paths"]["/v1/things"]["get"]["responses"]["default"]["$ref"]
    assert default == "#/components/responses/DEFAULT_ERROR"
    assert list(spec.json["components"]["responses"]["DEFAULT_ERROR"]["content"]) == [
        "application/problem+json"
    ]


def test_whoever_asks_first_for_the_openapi_page_gets_all_of_it():
    """It is made when it is asked for, and several may ask at once."""
    app = Flask("described")
    api = make_api(app, "Described")
    app.register_blueprint(docs_blueprint(api))

    def describe() -> None:
        time.sleep(0.2)
        api.spec.tag({"name": "things"})

    api.describe_later(describe)
    with ThreadPoolExecutor(8) as pool:
        pages = list(pool.map(lambda _: app.test_client().get("/openapi.json").json, range(8)))
    assert [page["tags"] for page in pages] == [[{"name": "things"}]] * 8


def test_a_change_of_one_document_needs_a_body(client):
    body = is_problem(client.patch("/v1/things/one"), 422, "invalid")
    assert body["errors"] == {"_schema": ["There is no body."]}
    assert client.patch("/v1/things/one", json={}).status_code == 204
    assert client.post("/v1/things/one/touch").status_code == 204
    paths = client.get("/openapi.json").json["paths"]
    assert paths["/v1/things/one"]["patch"]["requestBody"]["required"] is True
    assert paths["/v1/things/one/touch"]["post"]["requestBody"]["required"] is False


def test_a_fixed_path_takes_its_own_methods_only(client):
    """/v1/things/mine is no thing called "mine"."""
    assert client.delete("/v1/things/any").status_code == 204
    refused = client.delete("/v1/things/mine")
    is_problem(refused, 405, "method_not_allowed")
    assert set(re.split(r",\s*", refused.headers["Allow"])) == {"GET", "HEAD", "OPTIONS"}
    options = client.options("/v1/things/mine")
    assert set(re.split(r",\s*", options.headers["Allow"])) == {"GET", "HEAD", "OPTIONS"}
    assert "Content-Type" not in options.headers


@pytest.mark.parametrize("key", ["a", "a b", "!", "x" * 200])
def test_a_key_that_the_page_allows_is_taken(client, key):
    schema = client.get("/openapi.json").json["paths"]["/v1/things"]["post"]["parameters"][0]["schema"]
    assert re.fullmatch(schema["pattern"], key)
    assert client.post("/v1/things", json={"name": "x"}, headers={"Idempotency-Key": key}).status_code == 201


@pytest.mark.parametrize("key", ["", "é", "x" * 201])
def test_a_key_that_the_page_forbids_is_refused(client, key):
    schema = client.get("/openapi.json").json["paths"]["/v1/things"]["post"]["parameters"][0]["schema"]
    assert not (re.search(schema["pattern"], key) and len(key) <= schema["maxLength"])
    answer = client.post("/v1/things", json={"name": "x"}, headers={"Idempotency-Key": key})
    is_problem(answer, 422, "invalid")


def test_each_service_in_a_process_acts_with_its_own_dependencies(settings: WebSettings) -> None:
    inner, outer = Service("inner", settings, nullcontext), Service("outer", settings, nullcontext)
    inner.extensions["aisle.dependencies"], outer.extensions["aisle.dependencies"] = {}, ()
    inner.add_url_rule("/", view_func=lambda: type(current_dependencies(object)).__name__)
    outer.add_url_rule(
        "/",
        view_func=lambda: (
            f"{type(current_dependencies(object)).__name__} {inner.test_client().get('/').text} "
            f"{type(current_dependencies(object)).__name__}"
        ),
    )

    assert outer.test_client().get("/").text == "tuple dict tuple"


@pytest.mark.parametrize(
    "host", ["shop.example", "Shop.Example:8443", "bücher.example", "[::1]:80", "a b", ""]
)
@pytest.mark.parametrize("prefix", ["", "/shop"])
def test_addresses_are_built_for_the_host_that_was_asked(app, host: str, prefix: str) -> None:
    """As Flask builds them, which looks at the host anew each time."""
    environ = {"SCRIPT_NAME": prefix, "HTTP_HOST": host.encode().decode("latin-1")}
    with app.test_request_context("/v1/things?limit=2", environ_overrides=environ) as context:
        ours, read = context.url_adapter, context.request.host
        assert vars(ours) == vars(Flask.create_url_adapter(app, context.request))
        assert read == context.request.host


def test_a_host_that_is_none_is_refused_each_time(client) -> None:
    for _ in range(2):
        answer = client.get("/v1/things", headers={"Host": "a..b"})
        is_problem(answer, 400, "bad_request")
