"""Labels that staff buy at the desk for parcels that go out; and why none was bought for a return."""

from collections.abc import Callable, Iterator

import pytest

from tests.people import place
from tests.services.storefront.conftest import import_goods, product
from tests.services.storefront.test_desk import bought
from tests.services.storefront.visitor import Form, Page, Visitor
from tests.waiting import eventually

PDF = "Label as PDF"
SETTINGS = "/admin/settings"
NUMBERS = {"gift_card_days": "0", "return_days": "30"}


@pytest.fixture(autouse=True)
def address(keeper: Visitor) -> Iterator[None]:
    """The shop's own, while a test runs."""
    keeper.get(SETTINGS)
    former = keeper.page.form(SETTINGS).values["address"]
    page = keeper.submit(SETTINGS, address="9 Mill Lane\nLeeds LS1 4DY", **NUMBERS)
    assert "Saved." in page.text, page.text
    yield
    keeper.get(SETTINGS)
    keeper.submit(SETTINGS, address=former, **NUMBERS)


@pytest.fixture
def desk(join: Callable[..., Visitor], keeper: Visitor) -> str:
    """The desk's page of an order of three pieces that nobody has weighed."""
    customer = join("Petra Parcel")
    customer.get("/account")
    customer.submit("/account/addresses", name="Home", **place())
    import_goods(keeper, [product("parcel-vase", "Parcel Vase", ["Garden"], 800)])
    customer.get("/product/parcel-vase")
    customer.submit("/basket", quantity="3")
    customer.get("/checkout")
    return f"/admin{customer.submit('/checkout', card='tok_ok').path}"


def buy(keeper: Visitor, desk: str, count: int, grams: str) -> Page:
    assert keeper.page is not None
    form = label_form(keeper.page, desk)
    typed = {"label-parcel-vase": str(count), "weight_grams": grams}
    return keeper.send_form(form, {**form.values, **typed})


def label_form(page: Page, desk: str) -> Form:
    return next(form for form in page.forms if form.action == f"{desk}/labels")


def test_staff_buys_a_label_prints_it_and_hands_the_parcel_over(
    keeper: Visitor, desk: str, visitor: Visitor
) -> None:
    keeper.get(desk)
    unknown = buy(keeper, desk, 2, "")
    assert "what the parcel weighs" in unknown.text, unknown.text
    assert label_form(unknown, desk).values["label-parcel-vase"] == "2", "what was typed is kept"
    page = buy(keeper, desk, 2, "900")
    assert "Bought for £3.50 from RoyalMail" in page.text
    assert label_form(page, desk).values["label-parcel-vase"] == "1", "one has no label yet"
    assert keeper.get(page.link(PDF)).body.startswith(b"%PDF")
    assert visitor.get(page.link(PDF)).headers["Content-Type"] != "application/pdf"
    code = page.link("RM").rpartition("/")[2]
    keeper.get(desk)
    sent = keeper.submit(f"{desk}/labels/1/dispatch")
    assert "Dispatched." in sent.text
    assert code in sent.text
    assert f"{desk}/labels/1/dispatch" not in [form.action for form in sent.forms]
    assert sent.link("Track this parcel").endswith(code)
    keeper.get(desk)
    buy(keeper, desk, 1, "400")
    cancelled = keeper.submit(f"{desk}/labels/2/cancellation")
    assert "Cancelled; its money is asked back." in cancelled.text
    again = buy(keeper, desk, 1, "400")
    assert f"{desk}/labels/3/dispatch" in [form.action for form in again.forms]


def test_the_desk_says_why_no_label_was_bought_at_the_approval(
    keeper: Visitor, join: Callable[..., Visitor]
) -> None:
    customer = join("Nora Nolabel")
    customer.get("/account")
    customer.submit("/account/addresses", name="Home", **place())
    import_goods(keeper, [product("nolabel-vase", "Nolabel Vase", ["Garden"], 800)])
    desk = f"/admin/orders/{bought(customer, 'nolabel-vase')}"
    keeper.get(desk)
    keeper.submit(f"{desk}/dispatch", courier="Van", courierid="NL-1")
    keeper.submit(f"{desk}/delivery")
    keeper.get(SETTINGS)
    keeper.submit(SETTINGS, buy_return_labels="yes", **NUMBERS)
    try:
        customer.get(desk.replace("/admin", ""))
        customer.submit(f"{desk.replace('/admin', '')}/returns", **{"back-nolabel-vase": "1"})
        keeper.get(desk)
        keeper.submit(f"{desk}/returns/1/approval")
        eventually(lambda: "No label was bought at the approval" in keeper.get(desk).text)
        assert "what the parcel weighs" in keeper.get(desk).text
        assert "No label" not in customer.get(desk.replace("/admin", "")).text
    finally:
        keeper.get(SETTINGS)
        keeper.submit(SETTINGS, buy_return_labels="", **NUMBERS)


def test_staff_writes_what_customs_want_to_know_and_buys_the_label(
    keeper: Visitor, join: Callable[..., Visitor]
) -> None:
    customer = join("Jana Jersey")
    customer.get("/account")
    away = {"line1": "2 Rue de la Mer", "city": "St Helier", "postcode": "JE2 3AA"}
    customer.submit("/account/addresses", name="Home", **away)
    import_goods(keeper, [product("customs-vase", "Customs Vase", ["Garden"], 1200)])
    desk = f"/admin/orders/{bought(customer, 'customs-vase')}"
    keeper.get(SETTINGS)
    saved = keeper.submit(SETTINGS, customs_signer="Anna Signer", customs_origin="gb", **NUMBERS)
    values = saved.form(SETTINGS).values
    assert (values["customs_signer"], values["customs_origin"]) == ("Anna Signer", "GB")
    keeper.get(desk)
    page = keeper.submit(f"{desk}/labels")
    assert "What is missing for that is below." in page.text
    assert "Customs Vase : HS code, Weight" in page.text, page.text
    path = "/admin/products/customs-vase"
    assert f'href="{path}"'.encode() in page.body
    keeper.get(path)
    wrong = keeper.submit(path, hs_code="69.12", origin="Portugal")
    assert "At most 2 characters" in wrong.text
    wrong = keeper.submit(path, hs_code="69.12", origin="PT")
    assert "An HS code has 6 to 10 digits." in wrong.text
    wrong = keeper.submit(path, hs_code="6912.00", origin="zz")
    assert "There is no country ZZ." in wrong.text
    keeper.submit(path, hs_code="6912.00.23", origin="pt", weight_grams="900")
    kept = keeper.get(path).form(path).values
    assert (kept["hs_code"], kept["origin"], kept["weight_grams"]) == ("69120023", "PT", "900")
    keeper.submit(path, description="Another text.")
    assert keeper.get(path).form(path).values["hs_code"] == "69120023", "it stays"
    keeper.get(desk)
    page = keeper.submit(f"{desk}/labels")
    assert "from RoyalMail" in page.text, page.text
    assert keeper.get(page.link("Commercial invoice")).body.startswith(b"%PDF")
    assert "Customs Vase : HS code" not in page.text
    keeper.get(SETTINGS)
    keeper.submit(SETTINGS, customs_signer="", customs_origin="", **NUMBERS)
