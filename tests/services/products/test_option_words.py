"""Options and attributes as words of one search: what is found is sold so, in each dialect."""

from collections.abc import Callable
from typing import Any

import pytest

from services.products.actions import browse, importing
from services.products.actions.question import Question
from services.products.dependencies import Dependencies
from services.products.documents import DESIGN
from shared.couch import Server
from shared.couch.client import Client
from tests.services.products.conftest import open_as_worker, product

SHIRTS = ["Clothing", "Shirts"]


def shirt(productid: str, stocks: dict[tuple[str, ...], int], names: tuple[str, ...], **fields: Any) -> Any:
    """A product with these options; `stocks` are its variants."""
    options = [
        {"name": name, "values": list(dict.fromkeys(values[n] for values in stocks))}
        for n, name in enumerate(names)
    ]
    variants = [
        {"sku": f"{productid}-{n}", "options": dict(zip(names, values, strict=True)), "stock": stock}
        for n, (values, stock) in enumerate(stocks.items())
    ]
    return product(productid, taxonomy=SHIRTS, options=options, variants=variants, **fields)


COLOUR, SIZE, FIT = "Colour", "Size", "Fit"
GOODS = [
    shirt("has-it", {("Red", "M"): 3, ("Blue", "L"): 3}, (COLOUR, SIZE), name="Oxford shirt"),
    shirt(
        "sold-out",
        {("Red", "M"): 0, ("Red", "L"): 3, ("Blue", "M"): 3},
        (COLOUR, SIZE),
        name="Flannel shirt",
        colours=["red"],
    ),
    shirt("never-made", {("Red", "S"): 3, ("Blue", "M"): 3}, (COLOUR, SIZE), name="Linen shirt"),
    shirt(
        "dark",
        {("Dark red", "M"): 0, ("Dark red", "L"): 2, ("Light red", "M"): 2},
        (COLOUR, SIZE),
        name="Twill shirt",
    ),
    shirt(
        "slim",
        {("Red", "M", "Slim"): 0, ("Red", "M", "Wide"): 2, ("Red", "L", "Slim"): 2, ("Blue", "M", "Slim"): 2},
        (COLOUR, SIZE, FIT),
        name="Poplin shirt",
    ),
    shirt("boot", {("42",): 4, ("43",): 0}, (SIZE,), name="Rain boot"),
    product("plain", taxonomy=SHIRTS, name="Red shirt, style M"),
]


@pytest.fixture(scope="module", params=["search", "nouveau", "keywords"])
def deps(
    request: pytest.FixtureRequest, server: Server, prepared: Callable, environment: dict[str, str]
) -> Any:
    """The shop on a server that has no other dialect."""
    if request.param != "keywords" and request.param not in server.features():
        pytest.skip(f"this server has no {request.param}")
    others = frozenset(server.features()) - {"search", "nouveau"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Client, "features", lambda self: others | {request.param})
        prepared(DESIGN)
        opened = open_as_worker(environment)
        lines = (importing.Line(n, each) for n, each in enumerate(GOODS, 1))
        assert not importing.run(opened, lines, lambda state: None, importing.write).failed
        yield opened


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ("red M", {"has-it", "dark", "slim", "plain"}),
        ("m red", {"has-it", "dark", "slim", "plain"}),
        ("red shirts in M ", {"has-it", "dark", "slim", "plain"}),
        ("dark red M", set()),
        ("light red m", {"dark"}),
        ("red l shirt", {"sold-out", "dark", "slim"}),
        ("blue L", {"has-it"}),
        ("red m slim", set()),
        ("red m wide", {"slim"}),
        ("slim l red", {"slim"}),
        ("colour blue", {"has-it", "sold-out", "never-made", "slim"}),
        ("size 42", {"boot"}),
        ("rain boot 42", {"boot"}),
    ],
)
def test_options_together_are_found_as_they_are_sold(deps: Dependencies, q: str, expected: set[str]) -> None:
    listed = browse.products(deps, Question(q=q))
    assert {doc["productid"] for doc in listed.docs if not listed.more.get("dropped_words")} == expected


def test_what_has_only_some_of_the_options_is_shown_as_such(deps: Dependencies) -> None:
    listed = browse.products(deps, Question(q="dark red m"))
    assert listed.more["dropped_words"]
    assert "dark" not in {doc["productid"] for doc in listed.docs}


def test_a_size_that_is_sold_out_is_not_found(deps: Dependencies) -> None:
    listed = browse.products(deps, Question(q="boot 43"))
    assert not listed.docs or listed.more["dropped_words"] == ["43"]


@pytest.mark.parametrize("q", ["sold-out-1", "SOLD-OUT-1", "sold-out-"])
def test_a_product_is_found_by_the_sku_of_a_variant_and_its_beginning(deps: Dependencies, q: str) -> None:
    assert browse.products(deps, Question(q=q)).docs[0]["productid"] == "sold-out"
