"""A service that does not answer a form of the desk: what was typed is there again, and is never done twice."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import orjson
import pytest

from tests.bench.running import ADMIN_EMAIL, Shop
from tests.forwarding import Forward, Response, forwarding
from tests.people import place
from tests.services.storefront.conftest import import_goods, log_in, product, second_storefront
from tests.services.storefront.visitor import Page, Visitor

PROBLEM = {
    "type": "about:blank",
    "title": "Away",
    "status": 503,
    "detail": "Away.",
    "instance": "/",
    "code": "database_unavailable",
}
AWAY: Response = (503, {"Content-Type": "application/problem+json"}, orjson.dumps(PROBLEM))


class Services:
    """`mode`: "well"; "refusing" answers every write 503; "losing" does it first; "away" answers everything 503; "indexing" is well and has
    indexes that are long in catching up with an import."""

    mode = "well"

    def answer(self, method: str, path: str, body: bytes, forward: Forward) -> Response:
        writes = method != "GET" and not path.startswith(("/v1/sessions", "/v1/products/lookup"))
        if self.mode == "away" or (self.mode == "refusing" and writes):
            return AWAY
        if self.mode == "losing" and writes:
            forward()
            return AWAY
        status, headers, content = forward()
        if self.mode == "indexing" and path.startswith("/v1/products/import"):
            content = orjson.dumps({**orjson.loads(content), "indexed": False})
        return status, headers, content


@pytest.fixture(scope="module")
def services() -> Services:
    return Services()


@pytest.fixture(scope="module")
def keeper(shop: Shop, services: Services, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    """The shopkeeper at a storefront whose services break off."""
    with ExitStack() as stack:
        urls = {
            f"{name.upper()}_URL": stack.enter_context(forwarding(shop.urls[name], services.answer))
            for name in ("users", "products", "orders")
        }
        folder = tmp_path_factory.mktemp("unanswered")
        keeper = Visitor(stack.enter_context(second_storefront(shop, folder, **urls)))
        log_in(keeper, ADMIN_EMAIL, shop.admin_password)
        yield keeper


@pytest.fixture(autouse=True)
def well(services: Services) -> Iterator[None]:
    yield
    services.mode = "well"


@pytest.fixture(scope="module")
def order(join: Callable[..., Visitor]) -> str:
    customer = join("Unanswered Desk")
    customer.get("/account")
    customer.submit("/account/addresses", name="Home", **place())
    customer.get("/product/cup-33")
    customer.submit("/basket")
    customer.get("/checkout")
    return f"/admin{customer.submit('/checkout', card='tok_ok').path}"


def form_of(page: Page, action: str) -> dict[str, str]:
    form = next(each for each in page.forms if each.action == action and each.method == "post")
    return {name: text.replace("\r", "") for name, text in form.values.items()}


def test_a_new_product_is_there_again_as_it_was_typed(keeper: Visitor, services: Services) -> None:
    new = "/admin/products/new"
    typed = {"productid": "late-1", "name": "Late", "taxonomy": "Garden", "price": "3.00", "stock": "4"}
    typed["description"] = "A long text.\nOf two lines."
    keeper.get(new)
    services.mode = "refusing"
    page = keeper.submit(new, **typed)
    assert page.path.startswith(new)
    assert "did not answer in time" in page.text
    assert "What you typed is here again" in page.text
    assert "Nothing has been sent" not in page.text
    assert form_of(page, new).items() >= typed.items()
    services.mode = "well"
    assert keeper.submit(new).path == "/admin/products/late-1"


def test_an_edit_is_there_again(keeper: Visitor, services: Services) -> None:
    address = "/admin/products/cup-33"
    keeper.get(address)
    services.mode = "refusing"
    page = keeper.submit(address, description="Typed at a bad moment")
    assert form_of(page, address)["description"] == "Typed at a bad moment"
    services.mode = "well"
    assert "Saved." in keeper.submit(address).text


def test_what_was_done_without_an_answer_is_not_done_twice(keeper: Visitor, services: Services) -> None:
    import_goods(keeper, [product("unanswered", "Telegraph", ["Unanswered"], 700)])
    address = "/admin/products/unanswered"
    assert "Stock: 20" in keeper.get(address).text
    services.mode = "losing"
    page = keeper.submit(f"{address}/stock", delta="12", reason="Delivery")
    assert form_of(page, f"{address}/stock").items() >= {"delta": "12", "reason": "Delivery"}.items()
    assert "Stock: 32" in page.text
    services.mode = "well"
    assert "Stock: 32" in keeper.submit(f"{address}/stock").text


def test_a_refund_without_an_answer_is_paid_once(keeper: Visitor, services: Services, order: str) -> None:
    keeper.get(order)
    keeper.submit(f"{order}/refunds", amount="1.25", reason="Chipped")
    services.mode = "losing"
    page = keeper.submit(f"{order}/refunds", confirmed="yes")
    left = page.text.split(" is left to refund")[0].rsplit(" of ", 1)[0].rsplit(None, 1)[-1]
    assert form_of(page, f"{order}/refunds").items() >= {"amount": "1.25", "reason": "Chipped"}.items()
    services.mode = "well"
    keeper.submit(f"{order}/refunds")
    page = keeper.submit(f"{order}/refunds", confirmed="yes")
    assert "Refunded." in page.text
    assert f"{left} of " in page.text, "nothing more was paid back"


@pytest.mark.parametrize(
    ("page", "verb", "typed"),
    [
        ("order", "/dispatch", {"courier": "Bike", "courierid": "B-99"}),
        ("/admin/staff", "", {"email": "late.colleague@example.com", "role": "staff"}),
    ],
)
def test_other_forms_are_there_again(
    keeper: Visitor, services: Services, order: str, page: str, verb: str, typed: dict[str, str]
) -> None:
    address = order if page == "order" else page
    keeper.get(address)
    services.mode = "refusing"
    found = keeper.submit(f"{address}{verb}", **typed)
    assert form_of(found, f"{address}{verb}").items() >= typed.items()
    assert "did not answer in time" in found.text


@pytest.mark.parametrize(
    ("page", "typed"),
    [
        ("/admin/promotions", {"name": "Lost offer", "percent": "5"}),
        ("/admin/promotions", {"name": "Lost code", "percent": "5", "codes": "LOST5"}),
        ("/admin/product-types", {"code": "lost", "name": "Lost type"}),
        (
            "/admin/products/new",
            {"productid": "unanswered-1", "name": "Lost", "taxonomy": "Garden", "price": "3.00"},
        ),
    ],
    ids=["promotion", "promotion with a code", "product type", "product"],
)
def test_what_was_added_without_an_answer_is_there_once(
    keeper: Visitor, services: Services, page: str, typed: dict[str, str]
) -> None:
    """The second time it is neither added again nor refused as there already."""
    form = keeper.get(page).form(page)
    form.values.pop("active", None)  # a promotion of everything would change all prices
    services.mode = "losing"
    found = keeper.send_form(form, {**form.values, **typed})
    assert "did not answer in time" in found.text
    assert form_of(found, page).items() >= typed.items()
    services.mode = "well"
    done = keeper.submit(page)
    assert "Created." in done.text or "Saved." in done.text, done.text
    assert keeper.get(done.path).text.count(typed["name"]) >= 1
    if page != "/admin/products/new":
        assert keeper.get(page).text.count(typed["name"]) == 1


def test_an_address_that_the_browser_sends_again_is_there_once(keeper: Visitor, services: Services) -> None:
    form = keeper.get("/account").form("/account/addresses")
    typed = {**form.values, "name": "Lost mill", **place()}
    services.mode = "losing"
    assert keeper.send_form(form, typed).status == 503
    services.mode = "well"
    assert keeper.send_form(form, typed).text.count("Change Lost mill") == 1


def test_while_the_page_itself_is_away_the_text_is_kept(keeper: Visitor, services: Services) -> None:
    address = "/admin/products/cup-35"
    keeper.get(address)
    services.mode = "away"
    page = keeper.submit(address, description="Typed before the break")
    assert page.status == 503
    assert "What you typed is kept" in page.text
    assert "here again" not in page.text
    services.mode = "well"
    assert "form=" in page.path
    page = keeper.get(page.path)
    assert form_of(page, address)["description"] == "Typed before the break"
    assert "did not answer in time" in page.text


def test_an_import_that_the_indexes_do_not_hold_yet_says_so(keeper: Visitor, services: Services) -> None:
    line = orjson.dumps(product("indexing-1", "Ladle", ["Unanswered"], 700)) + b"\n"
    hidden = []
    for mode in ("indexing", "well"):
        services.mode = mode
        keeper.get("/admin/import")
        (note,) = re.findall(
            rb'<p id="import-behind"[^>]*>', keeper.upload("/admin/import", "file", line).body
        )
        hidden.append(b"hidden" in note)
    assert hidden == [False, True]
