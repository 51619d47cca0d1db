"""Every page at two widths, light and dark: accessible, without inline code, without sideways scrolling or jumps."""

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.conftest import WIDTHS

PUBLIC = (
    "/", "/departments", "{category}", "/search?q=mug", "/search?q=xylophone", "{product}", "/basket", "/login", "/register",
    "/registered", "/reset", "/reset/confirm?token=x", "/verify?token=x", "/verify", "/mailbox", "/no-such-page",
)  # fmt: skip
OWN = ("{product}", "/basket", "/checkout", "/orders", "{order}", "/account")
DESK = (
    "/admin", "/admin?by=hour", "/admin?by=year", "/admin/orders", "/admin/orders/{orderid}", "/admin/products", "/admin/products/new",
    "{edit}", "/admin/import", "/admin/trouble", "/admin/staff",
)  # fmt: skip
SHIFTS = """() => new Promise(done => {
  let sum = 0;
  new PerformanceObserver(list => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value; })
    .observe({type: "layout-shift", buffered: true});
  setTimeout(() => done(sum), 120);
})"""


@pytest.fixture(scope="session")
def known(shop, customer: dict) -> dict[str, str]:
    """Addresses with something behind them."""
    import requests

    products = requests.get(f"{shop.urls['products']}/v1/products?limit=1&q=mug", timeout=30).json()["items"]
    productid = products[0]["productid"]
    order = "/orders/" + customer["order"].rsplit("/", 1)[1]
    return {
        "category": "/category/Home", "product": f"/product/{productid}", "edit": f"/admin/products/{productid}", "order": order,
        "orderid": order.rsplit("/", 1)[1],
    }  # fmt: skip


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("who", ["anybody", "customer", "keeper"])
def test_pages_are_accessible_and_steady(visit: Callable[..., Page], known: dict, customer: dict, keeper: dict, who: str, width: int, dark: bool) -> None:
    paths, state = {"anybody": (PUBLIC, None), "customer": (OWN, customer["cookies"]), "keeper": (DESK, keeper)}[who]
    page = visit(width=width, dark=dark, state=state)
    found: list[str] = []
    for path in paths:
        address = path.format(**known)
        page.goto(address)
        found += [f"{address}: {problem}" for problem in _problems(page)]
    assert found == []


def _problems(page: Page) -> list[str]:
    shift = page.evaluate(SHIFTS)
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    found = [f"shifts by {shift:.3f}"] if shift > 0.02 else []
    found += [f"is {wide} px too wide"] if wide > 0 else []
    results = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})
    for violation in results.response["violations"]:
        if violation["impact"] in ("serious", "critical", "moderate"):
            nodes = "; ".join(node["html"][:160] for node in violation["nodes"][:3])
            found.append(f"{violation['id']} ({violation['impact']}): {nodes}")
    return found
