"""What no page of ours sends: broken bodies, header values that are none, numbers beyond every bound. Never a 5xx."""

import socket
from collections.abc import Callable
from urllib.parse import urlencode, urlsplit

import orjson
import pytest

from tests.people import PASSWORD, place
from tests.services.storefront.visitor import Visitor

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
GUEST = {"email": "odd@example.com", "name": "Odd", **place("1 Odd Street"), "card": "tok_ok"}
NO_HEADER = ("a\r\nX-Sent: b", "a\x00b", "€")


@pytest.mark.parametrize(
    "kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"]
)
def test_a_body_of_broken_chunks_is_refused(visitor: Visitor, kind: str) -> None:
    address = urlsplit(visitor.base)
    head = f"POST /login HTTP/1.1\r\nHost: shop\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection((address.hostname, address.port), timeout=20) as connection:
        connection.sendall(head.encode() + b"zz\r\nno chunk\r\n0\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.split(b" ", 2)[1] in (b"400", b"403"), answer[:400]


@pytest.mark.parametrize("token", ["a%0D%0AX-Sent:b", "%E2%82%AC", "%00", "x" * 3000])
def test_an_order_token_that_is_none_is_refused_and_not_kept(visitor: Visitor, token: str) -> None:
    assert visitor.get(f"/orders/some-order?token={token}").status in (400, 404, 422)
    assert visitor.get("/orders/some-order").path.startswith("/login")


@pytest.mark.parametrize("productid", ["made-up", "x" * 101, "", "export", "../users"])
def test_a_product_that_is_none_stays_out_of_a_guests_basket(visitor: Visitor, productid: str) -> None:
    page = visitor.get("/product/cup-32")
    form = page.form("/basket")
    assert visitor.send_form(form, {**form.values, "productid": productid}).status in (404, 422)
    assert visitor.get("/basket").status == 200
    assert "Your basket is empty" in visitor.page.text
    visitor.get("/product/cup-32")
    assert "Cup number 32" in visitor.submit("/basket").text


@pytest.mark.parametrize("key", [*NO_HEADER, ""])
def test_a_checkout_key_that_is_none_buys_nothing(visitor: Visitor, key: str) -> None:
    visitor.get("/product/cup-30")
    visitor.submit("/basket")
    visitor.get("/checkout")
    page = visitor.submit("/checkout", key=key, **GUEST)
    assert page.status == 400


@pytest.mark.parametrize(
    "order",
    [
        '{"items": ' + "[" * 400 + "]" * 400 + "}",
        '{"items": [{"productid": "cup-31", "quantity": 99999999999999999999}]}',
        '{"items": {"productid": "cup-31"}, "expected_total": 5}',
    ],
)
def test_an_order_that_is_none_buys_nothing(visitor: Visitor, order: str) -> None:
    visitor.get("/product/cup-31")
    visitor.submit("/basket")
    visitor.get("/checkout")
    page = visitor.submit("/checkout", order=order, **GUEST)
    assert (page.status, page.path) in ((200, "/checkout"), (400, "/checkout"))


@pytest.mark.parametrize("quantity", ["9" * 4000, "9" * 20, "1e3", "²", "1.5", "two", "", "0", "-1", "100"])
def test_a_quantity_beyond_every_bound_leaves_the_basket_as_it_is(visitor: Visitor, quantity: str) -> None:
    visitor.get("/product/cup-32")
    page = visitor.submit("/basket", quantity=quantity)
    assert (page.status, page.path) == (200, "/product/cup-32")
    assert "from 1 to 99" in page.text or "1 or more" in page.text or "at most 99" in page.text
    assert "Your basket is empty" in visitor.get("/basket").text


@pytest.mark.parametrize("etag", NO_HEADER)
def test_an_etag_that_is_none_changes_nothing(keeper: Visitor, etag: str) -> None:
    keeper.get("/admin/products/cup-33")
    assert keeper.submit("/admin/products/cup-33", etag=etag, name="Changed").status == 400
    assert "Changed" not in keeper.get("/product/cup-33").text


@pytest.mark.parametrize(
    ("name", "value"), [("stock", "9" * 25), ("price", "1e999999"), ("delivery", "-1e9999999")]
)
def test_a_number_that_no_product_has_is_said_on_the_page(keeper: Visitor, name: str, value: str) -> None:
    keeper.get("/admin/products/new")
    product = {
        "productid": "odd",
        "name": "Odd",
        "taxonomy": "Odd",
        "price": "1",
        "delivery": "0",
        name: value,
    }
    page = keeper.submit("/admin/products/new", **product)
    assert (page.status, page.path) == (200, "/admin/products/new")
    assert b'role="alert"' in page.body


@pytest.mark.parametrize(
    ("path", "action", "values"),
    [
        ("/reset", "/reset", {"email": "a@b"}),
        ("/login", "/login", {"email": "a\x00@b.example", "password": "x"}),
        ("/register", "/register", {"email": "a@b", "name": "\x00", "password": "x" * 9}),
        ("/verify?token=x", "/verify", {"token": "\x00"}),
    ],
)
def test_what_a_service_refuses_is_said_on_the_same_page(
    visitor: Visitor, path: str, action: str, values: dict[str, str]
) -> None:
    visitor.get(path)
    page = visitor.submit(action, **values)
    assert (page.status, page.path) == (200, action)
    assert b'role="alert"' in page.body
    assert "`errors`" not in page.text


def test_a_full_basket_keeps_nobody_out(keeper: Visitor, join: Callable[..., Visitor]) -> None:
    """A customer's basket holds 200 different products, a guest's 30, an order 100."""
    token = keeper.get("/admin/import").form("/admin/import").values["_csrf"]
    line = {"taxonomy": ["Full"], "price": {"amount": 1, "currency": "GBP"}, "stock": 1}
    goods = [{**line, "productid": f"full-{number}", "name": f"Full {number}"} for number in range(201)]
    lines = b"".join(orjson.dumps(each) + b"\n" for each in goods)
    keeper.send("POST", "/admin/import/piece", lines, {"X-CSRF-Token": token})
    customer = join("Fanny Full")
    form = customer.get("/product/full-0").form("/basket")
    for each in goods[:200]:
        body = urlencode({**form.values, "productid": each["productid"]}).encode()
        customer.send("POST", "/basket", body, {**FORM, "HX-Request": "true"})
    page = customer.get("/basket")
    assert "please take 100 out" in page.text
    assert "/checkout" not in [href for href, _ in page.links]
    customer.get("/account")
    customer.submit("/logout")
    customer.get("/product/full-200")
    customer.submit("/basket")
    customer.get("/login")
    page = customer.submit("/login", email="fanny.full@example.com", password=PASSWORD)
    assert "was left out" in page.text
    assert "200 in it" in page.text
