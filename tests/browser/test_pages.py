"""Every page at two widths, light and dark: accessible, without inline code, without sideways scrolling or jumps."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
import requests
from playwright.sync_api import Page

from tests.browser.conftest import WIDTHS, fill_basket

PUBLIC = (
    "/",
    "/departments",
    "{category}",
    "/search?q=mug",
    "/search?q=xylophone",
    "{product}",
    "/basket",
    "/checkout",
    "/login",
    "/register",
    "/registered",
    "/reset",
    "/reset/confirm?token=x",
    "/verify?token=x",
    "/verify",
    "/mailbox",
    "/no-such-page",
)
OWN = ("{product}", "/basket", "/checkout", "/orders", "{order}", "{order}/invoice", "/account")
DESK = (
    "/admin",
    "/admin?by=hour",
    "/admin?by=year",
    "/admin/margin",
    "/admin/stall",
    "/admin/orders",
    "/admin/orders/{orderid}",
    "/admin/products",
    "/admin/products/new",
    "{edit}",
    "/admin/search",
    "/admin/search/synonyms",
    "/admin/search/redirects",
    "/admin/search/pins?query=mug",
    "/admin/import",
    "/admin/failures",
    "/admin/staff",
)
DESK_GOODS = (
    "{edit}/prices",
    "/admin/products/{sized}/variants",
    "/admin/stock",
    "/admin/stock?product={sized}",
    "/admin/categories",
    "/admin/categories?path=Home%23Kitchen",
)
SHIFTS = """() => new Promise(done => {
  let sum = 0;
  new PerformanceObserver(list => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value; })
    .observe({type: "layout-shift", buffered: true});
  setTimeout(() => done(sum), 100);
})"""
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text()
RUN_AXE = (
    "rules => axe.run(document, {...rules, resultTypes: ['violations']}).then(found => found.violations)"
)
COLOURS = ["color-contrast", "link-in-text-block"]
ALL_RULES = {"runOnly": RULES}
RULES_OF_COLOURS = {"runOnly": {"type": "rule", "values": COLOURS}}
RULES_OF_STRUCTURE = {"runOnly": RULES, "rules": {name: {"enabled": False} for name in COLOURS}}


@pytest.fixture(scope="session")
def known(shop, customer: dict) -> dict[str, str]:
    """Addresses with something behind them."""
    productid, sized = (
        requests.get(f"{shop.urls['products']}/v1/products?limit=1&q={q}", timeout=30).json()["items"][0][
            "productid"
        ]
        for q in ("mug", "jumper")
    )
    order = "/orders/" + customer["order"].rsplit("/", 1)[1]
    return {
        "category": "/category/Home",
        "product": f"/product/{productid}",
        "edit": f"/admin/products/{productid}",
        "sized": sized,
        "order": order,
        "orderid": order.rsplit("/", 1)[1],
    }


@pytest.mark.parametrize("who", ["anybody", "customer", "keeper", "keeper of goods"])
def test_pages_are_accessible_and_steady(
    visit: Callable[..., Page], known: dict, customer: dict, keeper: dict, who: str
) -> None:
    paths, state = {
        "anybody": (PUBLIC, None),
        "customer": (OWN, customer["cookies"]),
        "keeper": (DESK, keeper),
        "keeper of goods": (DESK_GOODS, keeper),
    }[who]
    page = visit(width=360, state=state)
    if state is None:
        fill_basket(page)
    found: list[str] = []
    for path in paths:
        address = path.format(**known)
        page.set_viewport_size({"width": 360, "height": WIDTHS[360]})
        page.goto(address)
        shift = page.evaluate(SHIFTS)
        found += [f"{address} shifts by {shift:.3f}"] if shift > 0.02 else []
        found += problems(page, address)
    assert not found, "\n".join(found)


def problems(page: Page, address: str) -> list[str]:
    """What axe finds on a page, and where it is wider than its window, at each width, light and dark."""
    found: list[str] = []
    page.evaluate(AXE)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": WIDTHS[width]})
        wide = page.evaluate(WIDER)
        found += [f"{address} is {wide} px too wide at {width}"] if wide > 0 else []
        for scheme, rules in (("light", ALL_RULES), ("dark", RULES_OF_COLOURS)):
            page.emulate_media(color_scheme=scheme)
            found += [f"{address} at {width}, {scheme}: {problem}" for problem in violations(page, rules)]
    return found


def violations(page: Page, rules: dict[str, Any]) -> list[str]:
    """By axe's own options for which of its rules are run; those of colours take half of the time."""
    return [
        f"{each['id']} ({each['impact']}): " + "; ".join(node["html"][:160] for node in each["nodes"][:3])
        for each in page.evaluate(RUN_AXE, rules)
        if each["impact"] in ("moderate", "serious", "critical")
    ]
