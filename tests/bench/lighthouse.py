"""`make lighthouse`: Google's Lighthouse (mobile) over four pages of the shop that runs here; every score should be 100.

Search pages are kept out of search engines on purpose (`noindex`), so that audit is left out there.

Needs Node.js with npx, which fetches Lighthouse itself, and Chrome or Chromium (CHROME_PATH names it). Timings ask for a quiet machine.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import requests

from deploy.local.layout import Layout
from deploy.local.settings import Settings
from services.storefront.rules.taxonomy import href

LIGHTHOUSE = "lighthouse@12.8.2"
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
SEARCH, INDEXED = "search", "is-crawlable"
BROWSERS = ("google-chrome", "chromium", "chromium-browser")


def main() -> int:
    ports = Layout(Settings.read(os.environ)).ports
    shop, products = (f"http://127.0.0.1:{ports[name]}" for name in ("storefront", "products"))
    npx, chrome = shutil.which("npx"), _chrome()
    if npx is None or chrome is None or not _is_running(shop):
        print("Needs npx (Node.js), Chrome or Chromium (CHROME_PATH), and a shop that runs: make run")
        return 2
    print(f"| page | {' | '.join(CATEGORIES)} |\n|{' --- |' * (len(CATEGORIES) + 1)}")
    worst = 100
    for name, path in _pages(products).items():
        scores = _scores(npx, chrome, shop + path, skipped=INDEXED if name == SEARCH else "")
        print(f"| {name} | {' | '.join(str(scores[each]) for each in CATEGORIES)} |", flush=True)
        worst = min(worst, *scores.values())
    return 0 if worst == 100 else 1


def _pages(products: str) -> dict[str, str]:
    """A page of each kind, with the first product that has a picture."""
    found = requests.get(f"{products}/v1/products", {"limit": 100}, timeout=10).json()["items"]
    product = next((each for each in found if each["image"]), found[0])
    return {
        "home": "/",
        "category": href("#".join(product["taxonomy"])),
        "product": f"/product/{product['productid']}",
        SEARCH: f"/search?q={quote(product['name'].split()[-1])}",
    }


def _scores(npx: str, chrome: str, url: str, skipped: str) -> Mapping[str, int]:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [
            npx,
            "--yes",
            LIGHTHOUSE,
            url,
            "--quiet",
            "--chrome-flags=--headless=new --no-sandbox",
            "--output=json",
            f"--output-path={report}",
            f"--only-categories={','.join(CATEGORIES)}",
            *([f"--skip-audits={skipped}"] if skipped else []),
        ]
        subprocess.run(command, check=True, env={**os.environ, "CHROME_PATH": chrome})
        found = json.loads(report.read_text())["categories"]
    return {name: round(found[name]["score"] * 100) for name in CATEGORIES}


def _chrome() -> str | None:
    return os.environ.get("CHROME_PATH") or next(filter(None, map(shutil.which, BROWSERS)), None)


def _is_running(shop: str) -> bool:
    try:
        return requests.get(f"{shop}/health/live", timeout=2).ok
    except requests.RequestException:
        return False


if __name__ == "__main__":
    sys.exit(main())
