"""The README's first walk, as it stands there, over the shop as `make run` starts it."""

import json
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import requests

from tests.journeys.shop import Shop
from tests.processes import ROOT, start_minicouch
from tests.readme import README


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    prefix = f"w{secrets.token_hex(4)}-" if "COUCH_URL" in os.environ else ""
    shop = Shop(tmp_path_factory.mktemp("walk") / "state", DATABASE_PREFIX=prefix).start()
    yield shop
    if shop.process.poll() is None:
        shop.stop()
    if prefix:
        for name in requests.get(f"{os.environ['COUCH_URL']}/_all_dbs").json():
            if name.startswith(prefix):
                requests.delete(f"{os.environ['COUCH_URL']}/{name}")


@pytest.fixture(scope="module")
def walked(shop: Shop) -> subprocess.CompletedProcess:
    shop.wait_for("past orders: 300 created")
    shop.wait_for("pictures: 153 stored")
    (walk,) = re.findall(r"## A first walk.*?```bash\n(.*?)```", README.read_text(), re.DOTALL)
    return subprocess.run(
        ["bash", "-c", f"set -euo pipefail\n{shop.here(walk)}"], capture_output=True, text=True, timeout=90
    )


def token(shop: Shop, email: str, password: str) -> dict[str, str]:
    answer = requests.post(f"{shop.url('users')}/v1/sessions", json={"email": email, "password": password})
    return {"Authorization": f"Bearer {answer.json()['access_token']}"}


def test_the_walk_ends_delivered_and_in_todays_sales(walked: subprocess.CompletedProcess) -> None:
    assert walked.returncode == 0, walked.stdout + walked.stderr
    assert '"status":"delivered"' in walked.stdout
    report = json.loads(
        walked.stdout.splitlines()[-1][walked.stdout.splitlines()[-1].rindex('{"rows":[{"period"') :]
    )
    (today,) = report["rows"]
    assert today["period"] == datetime.now(UTC).strftime("%Y-%m-%d")
    assert today["orders"] == 1
    assert today["units"] == 2
    assert today["net"] == today["gross"]


def test_the_category_page_of_the_walk_costs_one_partition_query(walked: subprocess.CompletedProcess) -> None:
    (timing,) = re.findall(r"(?i)^server-timing: (.*)\r?$", walked.stdout, re.MULTILINE)
    counts = dict(re.findall(r'(\w+);[^,]*desc="(\d+)"', timing))
    assert counts == {"partition": "1", "global": "0", "read": "0", "write": "0"}


def test_the_sample_shop_is_whole(shop: Shop, walked: subprocess.CompletedProcess) -> None:
    menu = requests.get(f"{shop.url('products')}/v1/categories", params={"depth": 3}).json()
    assert menu["count"] == 200
    admin = token(shop, "admin@example.com", (shop.state / "admin-password").read_text().strip())
    report = requests.get(
        f"{shop.url('orders')}/v1/admin/reports/sales", params={"by": "total"}, headers=admin
    ).json()
    assert report["rows"][0]["orders"] == 301
    page = requests.get(f"{shop.url('storefront')}/")
    assert page.status_code == 200
    picture = requests.get(f"{shop.url('storefront')}/media/p0018.svg")
    assert picture.headers["Content-Type"].startswith("image/svg+xml")
    assert picture.text.startswith("<svg")
    products = requests.get(f"{shop.url('products')}/v1/products", params={"limit": 100}).json()["items"]
    assert {len(each["pictures"]) for each in products} == {2, 3, 4}
    assert all(each["alt"] for product in products for each in product["pictures"])
    shown = requests.get(f"{shop.url('storefront')}/product/p0018").text
    address = re.search(r'<img src="(/pictures/[0-9a-f]{64}/640)" srcset', shown)[1]
    photo = requests.get(shop.url("storefront") + address)
    assert (photo.status_code, photo.headers["Content-Type"]) == (200, "image/webp")


def test_the_sample_shop_has_a_code(shop: Shop, walked: subprocess.CompletedProcess) -> None:
    body = {"items": [{"productid": "p0018", "quantity": 1}], "codes": ["welcome10"]}
    found = requests.post(f"{shop.url('orders')}/v1/orders/quote", json=body).json()
    (discount,) = found["discounts"]
    assert discount["name"] == "Welcome: a tenth off"
    assert discount["amount"]["amount"] == round(found["goods"]["amount"] / 10)
    assert "the code WELCOME10" in shop.log.read_text()


def test_the_sample_shop_is_found_by_other_words(shop: Shop, walked: subprocess.CompletedProcess) -> None:
    for word, category in (("shoes", "Footwear"), ("bike", "Cycling")):
        found = requests.get(f"{shop.url('products')}/v1/products", params={"q": word}).json()["items"]
        assert {category in each["taxonomy"] for each in found} == {True}, word


def test_a_backup_restored_elsewhere_holds_every_document_and_report(
    shop: Shop, walked: subprocess.CompletedProcess, tmp_path: Path
) -> None:
    def run(*arguments: str, **env: str) -> None:
        command = [sys.executable, "-m", "deploy.backup", *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env={**os.environ, **env}, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr

    names = [f"{shop.prefix}{name}" for name in ("users", "products", "orders")]
    for attempt in range(10):  # the shop runs on, and writes by the clock what customers searched for
        before, backups = contents(shop.couch_url, names), tmp_path / f"backups{attempt}"
        run("save", str(backups), COUCH_URL=shop.couch_url, DATABASE_PREFIX=shop.prefix)
        if contents(shop.couch_url, names) == before:
            break
    (folder,) = backups.iterdir()
    process, elsewhere = start_minicouch(tmp_path / "elsewhere")
    try:
        run("restore", str(folder), COUCH_URL=elsewhere)
        after = contents(elsewhere, names)
    finally:
        process.stop()
    assert sum(len(before[name]) for name in names) > 2000
    assert before[f"{names[2]}/sales"]
    for place, rows in before.items():
        assert after[place] == rows, place


def contents(couch_url: str, names: list[str]) -> dict[str, list]:
    """Every document of the databases, and every reduced view over all partitions at its finest."""
    found = {}
    for name in names:
        rows = requests.get(f"{couch_url}/{name}/_all_docs", params={"include_docs": "true"}).json()["rows"]
        found[name] = rows
        for design in [row["doc"] for row in rows if row["id"].startswith("_design/")]:
            if design.get("options", {}).get("partitioned") is not False or design.get("language") == "query":
                continue
            for view, declared in design.get("views", {}).items():
                asked = {"group": "true"} if "reduce" in declared else {}
                answer = requests.get(f"{couch_url}/{name}/{design['_id']}/_view/{view}", params=asked)
                if answer.status_code == 200:
                    found[f"{name}/{view}"] = answer.json()["rows"]
    return found


def test_a_second_start_finds_its_data_and_seeds_nothing(
    shop: Shop, walked: subprocess.CompletedProcess
) -> None:
    assert shop.stop() == 0
    assert not shop.listens()
    shop.start()
    ada = token(shop, "ada@example.com", "a long quiet evening")
    (order,) = requests.get(f"{shop.url('orders')}/v1/orders", headers=ada).json()["items"]
    assert order["status"] == "delivered"
    shop.wait_for("following the changes")
    assert shop.stop() == 0
    assert "products: 200" not in shop.log.read_text()
    assert "shown once" not in shop.log.read_text()
