"""What the shop keeps on a device is bounded: it asks for storage, keeps pictures within a budget, and drops old pages."""

from datetime import timedelta

from playwright.sync_api import expect

from shared.clock import iso, now
from tests.browser.offline_device import Visit, join, visit
from tests.waiting import eventually

__all__ = ["visit"]

COUNT_QUESTIONS = """
  const real = navigator.storage.persist.bind(navigator.storage);
  globalThis.asked = 0;
  navigator.storage.persist = () => { globalThis.asked += 1; return real(); };
"""
SIZES = """async () => {
  const cache = await caches.open('aisle-kept-pictures');
  const sizes = [];
  for (const address of await cache.keys()) sizes.push((await (await cache.match(address)).blob()).size);
  return sizes;
}"""
FILL = """async (bytes) => {
  const { _id, _rev, ...shop } = await shopDevice.known('shop');
  await shopDevice.remember('shop', { ...shop, picture_bytes: bytes });
  await shopKept.fill();
}"""
KEEP_PAGE = """async ([path, moment]) => {
  const headers = { 'Content-Type': 'text/html', 'X-Aisle-Kept': moment };
  await (await caches.open('aisle-pages')).put(path, new Response('<!doctype html><title>kept</title>', { headers }));
}"""
PAGES = (
    "async () => (await (await caches.open('aisle-pages')).keys()).map(({ url }) => new URL(url).pathname)"
)


def test_storage_is_asked_for_by_who_is_logged_in_and_by_nobody_else(visit: Visit) -> None:
    page = visit()
    page.add_init_script(COUNT_QUESTIONS)
    page.goto("/")
    page.wait_for_timeout(2000)
    assert page.evaluate("asked") == 0
    join(page)
    page.goto("/departments")
    eventually(lambda: page.evaluate("asked") == 1)


def test_pictures_of_a_kept_department_stay_within_the_budget(visit: Visit) -> None:
    page = visit()
    join(page)
    page.goto("/category/Home/Kitchen")
    page.get_by_role("button", name="Keep it on this device").click()
    expect(page.get_by_role("button", name="Kept on this device: remove")).to_be_enabled()
    page.evaluate(FILL, 20_000_000)
    sizes = page.evaluate(SIZES)
    assert len(sizes) > 3, "all of them, where there is room"
    for budget in (sum(sizes) // 2, 0):
        page.evaluate(FILL, budget)
        left = page.evaluate(SIZES)
        assert sum(left) <= budget
        assert bool(left) == bool(budget)


def test_pages_that_were_kept_for_a_month_go(visit: Visit) -> None:
    page = visit()
    for path, days in (("/kept-long-ago", 31), ("/kept-lately", 29)):
        page.evaluate(KEEP_PAGE, [path, iso(now() - timedelta(days=days))])
    page.goto("/departments")
    eventually(lambda: "/departments" in page.evaluate(PAGES))
    eventually(lambda: "/kept-long-ago" not in page.evaluate(PAGES))
    assert "/kept-lately" in page.evaluate(PAGES)
