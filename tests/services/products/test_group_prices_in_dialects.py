"""Prices of customer groups sort, filter and count in each dialect of search, and index functions reckon them as Python does."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deploy.local.minicouch import javascript as v8
from services.products.actions import browse, importing
from services.products.actions.question import Question
from services.products.dependencies import Dependencies
from services.products.documents import design_in
from services.products.price_fields import price_name, prices_by_name, prices_script
from services.products.rules.prices import PriceContext, lowest_and_highest, with_current_prices
from shared.couch import Server
from shared.couch.client import Client
from tests.services.products.conftest import eventually, open_as_worker, product
from tests.services.products.variants import shirt

GROUPS = ("trade", "big-buyers")


def ladder(productid: str, amount: int, **groups: int) -> dict[str, Any]:
    prices = {name.replace("_", "-"): {"GBP": each} for name, each in groups.items()}
    price = {"amount": amount, "currency": "GBP"}
    return product(productid, name="Rungladder", taxonomy=["Ladders"], price=price, group_prices=prices)


GOODS = [ladder("rung-1", 900), ladder("rung-2", 1000, big_buyers=800), ladder("rung-3", 1100, trade=850)]


@pytest.fixture(params=["search", "nouveau", "keywords"])
def deps(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    server: Server,
    prepared: Callable,
    environment: dict[str, str],
) -> Dependencies:
    """The shop on a server that has no other dialect."""
    if request.param != "keywords" and request.param not in server.features():
        pytest.skip(f"this server has no {request.param}")
    others = frozenset(server.features()) - {"search", "nouveau"}
    monkeypatch.setattr(Client, "features", lambda self: others | {request.param})
    prepared(design_in("en", groups=GROUPS))
    found = open_as_worker(environment | {"CUSTOMER_GROUPS": ",".join(GROUPS)})
    lines = (importing.Line(n, each) for n, each in enumerate(GOODS, 1))
    importing.run(found, lines, lambda state: None, importing.write)
    return found


def found(deps: Dependencies, group: str, **asked: Any) -> list[str]:
    question = Question(group=group, currency="GBP", **asked)
    return [doc["productid"] for doc in browse.products(deps, question).docs]


def test_each_group_has_its_order_its_bounds_and_its_counts(deps: Dependencies):
    for asked in ({"q": "rungladder"}, {"category": ("Ladders",)}):
        by_price = {"sort": "price", **asked}
        eventually(lambda asked=by_price: found(deps, "", **asked) == ["rung-1", "rung-2", "rung-3"])
        assert found(deps, "big-buyers", **by_price) == ["rung-2", "rung-1", "rung-3"]
        assert found(deps, "trade", **by_price) == ["rung-3", "rung-1", "rung-2"]
        assert found(deps, "trade", **by_price, max_price=850) == ["rung-3"]
        assert sorted(found(deps, "trade", **asked, max_price=900)) == ["rung-1", "rung-3"]
    listed = browse.products(deps, Question(group="trade", currency="GBP", q="rungladder", facets=("price",)))
    bands = {each["value"]: each["count"] for each in listed.more["facets"]["price"]}
    assert bands == {"0-999": 2, "1000-1999": 1}


AMOUNTS = st.integers(1, 50)
TABLES = st.dictionaries(st.sampled_from(["GBP", "EUR"]), AMOUNTS)
OF_GROUPS = st.dictionaries(st.sampled_from([*GROUPS, "others"]), TABLES)


@st.composite
def goods(draw: Any) -> dict[str, Any]:
    """A stored document whose own prices are those of its cheapest active variant, as every write settles them."""
    currencies = draw(st.sampled_from([["GBP"], ["GBP", "EUR"]]))
    doc = shirt("s", group_prices=draw(OF_GROUPS), type="product")
    doc["variants"] = [
        {
            "sku": str(n),
            "options": {},
            "active": draw(st.booleans()),
            "group_prices": draw(OF_GROUPS),
            "prices": {each: 30 + draw(st.integers(1, 20)) for each in currencies if draw(st.booleans())},
        }
        for n in range(draw(st.integers(0, 3)))
    ]
    active = [each for each in doc["variants"] if each["active"]] or [{}]
    doc["prices"] = dict.fromkeys(currencies, 30)
    for each in active:
        each["prices"] = {} if each is active[0] else each["prices"]
    doc["sales"] = [{"prices": draw(TABLES)}] if draw(st.booleans()) else []
    doc["price"] = {"amount": 30, "currency": "GBP"}
    return dict(with_current_prices(doc, "2026-11-22T00:00:00.000Z"))  # type: ignore[arg-type]


@settings(max_examples=60, deadline=None, database=None)
@given(docs=st.lists(goods(), min_size=1, max_size=8))
def test_index_functions_have_the_prices_that_pages_show(docs: list[dict[str, Any]]):
    script = prices_script(GROUPS, whole=True)
    source = f"function (doc) {{ index('doc', JSON.stringify({script}), {{}}); }}"
    made = v8.run_index(source, [orjson.dumps(doc) for doc in docs])
    for doc, rows in zip(docs, made, strict=True):
        prices = prices_by_name(GROUPS)(doc)
        assert orjson.loads(rows[0][1]) == prices
        for currency in doc["prices"]:
            for group in ("", *GROUPS):
                shown = lowest_and_highest(doc, PriceContext("2026-11-22T00:00:00.000Z", currency, group))
                assert shown
                assert prices[price_name(currency, group)] == shown[0].price["amount"]
        assert prices["_trade"] == prices["GBP_trade"]
