"""Where customs declarations are due, and what they say."""

from typing import Any

import pytest

from services.orders.rules import customs
from services.orders.rules.customs import american_filing, crosses_customs, customs_territory, declared_value
from services.orders.rules.labels import CustomsItem, LabelRefused
from shared.money import money


def at(country: str, postcode: str = "", region: str = "") -> dict[str, str]:
    return {"country": country, "postcode": postcode, "region": region}


LONDON, PARIS, BERN = at("GB", "EC1A 1BB"), at("FR", "75001"), at("CH", "3000")
BELFAST, MADRID, NEW_YORK = at("GB", "BT1 5GS"), at("ES", "28001", "M"), at("US", "10001", "NY")


@pytest.mark.parametrize(
    ("one", "other", "crosses"),
    [
        (LONDON, at("GB", "LS1 4DY"), False),
        (LONDON, at("GB"), False),
        (at("DE", "10115"), PARIS, False),
        (LONDON, PARIS, True),
        (at("DE", "10115"), BERN, True),
        (BERN, at("LI", "9490"), False),
        (at("SG", "018956"), at("SG", "018957"), False),
        # Northern Ireland is in both
        (LONDON, BELFAST, False),
        (BELFAST, at("IE", "D02 AF30"), False),
        (BELFAST, PARIS, False),
        (BELFAST, BERN, True),
        # the Crown dependencies
        (LONDON, at("IM", "IM1 1AA"), False),
        (LONDON, at("GB", "im1 1aa"), False),
        (LONDON, at("JE", "JE2 3AA"), True),
        (LONDON, at("GB", "JE2 3AA"), True),
        (LONDON, at("GG", "GY1 1AA"), True),
        (at("JE", "JE2 3AA"), at("GB", "JE2 4BB"), False),
        # parts of the Union's countries that lie outside its customs or its tax
        (MADRID, at("ES", "35001", "GC"), True),
        (MADRID, at("ES", "38001"), True),
        (at("ES", "35001"), at("ES", "38001", "TF"), False),
        (MADRID, at("ES", "51001"), True),
        (MADRID, at("ES", "52001", "ML"), True),
        (MADRID, at("ES", "07001", "PM"), False),
        (at("FI", "00100"), at("FI", "22100"), True),
        (at("AX", "22100"), at("FI", "22 100"), False),
        (at("DE", "10115"), at("DE", "27498"), True),
        (at("DE", "10115"), at("DE", "78266"), True),
        (BERN, at("DE", "78266"), False),
        (at("IT", "00118"), at("IT", "23041"), True),
        (at("IT", "00118"), at("IT", "22061"), True),
        (at("IT", "00118"), at("VA", "00120"), True),
        (at("GR", "104 31"), at("GR", "630 86"), True),
        (PARIS, at("FR", "97400"), True),
        (at("RE", "97400"), at("FR", "97400"), False),
        (PARIS, at("MC", "98000"), False),
        (PARIS, at("GP", "97100"), True),
        (at("DK", "1050"), at("DK", "3900"), True),
        (at("DK", "1050"), at("FO", "100"), True),
        (at("PT", "1000-001"), at("PT", "9000-001"), False),
        (at("NO", "0150"), at("NO", "9170"), True),
        # the United States and what they post to as if it were at home
        (NEW_YORK, at("US", "00901", "PR"), False),
        (NEW_YORK, at("PR", "00901"), False),
        (NEW_YORK, at("US", "96910", "GU"), True),
        (NEW_YORK, at("US", "09012", "AE"), True),
        (NEW_YORK, at("US", "00802"), True),
        (NEW_YORK, at("US", "96701", "HI"), False),
        (at("GU", "96910"), at("US", "96910", "GU"), False),
    ],
)
def test_where_goods_are_declared(one: dict[str, str], other: dict[str, str], crosses: bool) -> None:
    assert crosses_customs(one, other) is crosses_customs(other, one) is crosses


def test_a_country_without_such_parts_is_its_own_territory() -> None:
    assert customs_territory(at("JP", "100-0001")) == "JP"


def item(code: str, amount: int, currency: str = "USD") -> CustomsItem:
    return CustomsItem("sku", "Thing", 1, money(amount, currency), 100, code, "US")


def test_dear_goods_leave_the_united_states_after_they_were_filed() -> None:
    two = [item("691200", 2500_00), item("940521", 2500_00)]
    assert american_filing(two, NEW_YORK, PARIS) == customs.EXEMPT, "each code counts by itself"
    with pytest.raises(LabelRefused, match="filed"):
        american_filing([*two, item("691200", 1)], NEW_YORK, PARIS)
    dear = [item("691200", 9000_00)]
    assert american_filing(dear, NEW_YORK, at("CA", "K1A 0B1")) == customs.EXEMPT_TO_CANADA
    assert american_filing(dear, PARIS, NEW_YORK) == customs.EXEMPT


def order(tax: dict[str, Any] | None = None) -> Any:
    return {"tax": tax or {"basisPoints": 2000, "included": True}}


def line(quantity: int, total: int, discount: int = 0, **more: Any) -> Any:
    sold = {"quantity": quantity, "total": money(total, "GBP"), **more}
    return sold | ({"discount": money(discount, "GBP")} if discount else {})


def taxed(base: int, rate: float = 20, included: bool = True) -> dict[str, Any]:
    return {"base": money(base, "GBP"), "rate": rate, "included": included}


@pytest.mark.parametrize(
    ("sold", "quantity", "value"),
    [
        (line(3, 3600, tax=taxed(3000)), 3, 3000),
        (line(3, 3600, 100, tax=taxed(2917)), 1, 972),
        (line(3, 3600, 100, tax=taxed(2917)), 2, 1945),
        (line(2, 1, tax=taxed(1)), 1, 1),
        (line(200, 100, tax=taxed(83)), 1, 1),
        (line(2, 2400, 2400, tax=taxed(0)), 1, 1000),
        (line(2, 2400, 2400, tax=taxed(0, included=False)), 2, 2400),
        (line(1, 0, tax=taxed(0)), 1, 0),
        (line(2, 2400, 1200), 2, 1000),
    ],
    ids=["all", "a part", "two", "a penny", "never nothing", "a gift", "tax added", "no price", "no taxes"],
)
def test_a_line_is_worth_what_it_was_sold_for(sold: Any, quantity: int, value: int) -> None:
    assert declared_value(order(), sold, quantity) == value
