"""The shop as an app: its manifest, its service worker, and the pages, which stay what they are without either."""

import re

import orjson

from tests.services.storefront.visitor import Visitor


def test_the_manifest_names_icons_that_are_there(visitor: Visitor) -> None:
    page = visitor.get("/manifest.webmanifest")
    assert page.headers["Content-Type"] == "application/manifest+json"
    manifest = orjson.loads(page.body)
    assert (manifest["scope"], manifest["start_url"], manifest["display"]) == ("/", "/", "standalone")
    for icon in manifest["icons"]:
        found = visitor.get(icon["src"])
        assert (found.status, found.headers["Content-Type"].partition(";")[0]) == (200, icon["type"])
    assert {"192x192", "512x512"} <= {icon["sizes"] for icon in manifest["icons"]}


def test_the_worker_names_the_files_of_its_release(visitor: Visitor) -> None:
    page = visitor.get("/worker.js")
    assert page.headers["Content-Type"].partition(";")[0] == "text/javascript"
    assert page.headers["Cache-Control"] == "no-cache", "a release replaces it at once"
    line, _, script = page.body.decode().partition("\n")
    shop = orjson.loads(line.removeprefix("const SHOP = ").removesuffix(";"))
    assert "addEventListener" in script
    assert all(shop["release"] in address for address in shop["shell"])
    for address in [*shop["shell"], shop["offline"]]:
        assert visitor.get(address).status == 200, address


def test_all_that_pages_load_is_on_the_device(visitor: Visitor) -> None:
    shell = visitor.get("/worker.js").body.decode().partition("\n")[0]
    for path in ("/", "/offline"):
        page = visitor.get(path)
        for address in re.findall(r'(?:src|href)="(/assets/[^"]+)"', page.text):
            assert address in shell or "/icons/" in address, address


def test_nobody_gets_a_cookie_for_it(visitor: Visitor) -> None:
    for path in ("/", "/manifest.webmanifest", "/worker.js", "/offline"):
        answer = visitor.get(path)
        assert "Set-Cookie" not in answer.headers
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'; ")
    assert "s-maxage" in visitor.get("/").headers["Cache-Control"]
