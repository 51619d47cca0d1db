"""Loads the sample shop through the public admin API, as any shopkeeper would load a shop."""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import cast
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from deploy.local import keys
from deploy.local.shop.german import categories
from deploy.local.shop.history import history
from deploy.local.shop.photos import photos_of
from deploy.local.shop.pictures import draw
from deploy.local.shop.products import SampleProduct, sample_products
from deploy.local.shop.terms import PROMOTIONS, SHIPPING_METHODS, SYNONYMS, TAX_RATES

CHUNK = 100
TIMEOUT, RETRY_SECONDS = 60, 60


class NotLoaded(Exception):
    """The shop did not take the products; the message holds its answer."""


def load(environment: Mapping[str, str], say: Callable[[str], None]) -> None:
    """Draws one picture of each product, then imports products and past orders, and sets the terms of sale with promotions. Doing it again changes nothing."""
    state = Path(environment["AISLE_STATE"])
    stock = sample_products()
    _draw(stock, Path(environment["MEDIA_DIR"]))
    token = _log_in(environment)
    lines = [item.line for item in stock]
    if not _has_pictures(environment, lines[0]):
        _import(f"{environment['PRODUCTS_URL']}/v1/products/import", lines, token, "products", say)
    _label_categories(environment["PRODUCTS_URL"], lines, token, say)
    _set_synonyms(environment["PRODUCTS_URL"], token, say)
    _set_terms(environment["ORDERS_URL"], token, say)
    _add_promotions(environment["ORDERS_URL"], token, say)
    first = keys.kept(state / "done" / "sample-shop-date", lambda: datetime.now(UTC).isoformat())
    past = history(lines, datetime.fromisoformat(first))
    url = f"{environment['ORDERS_URL']}/v1/admin/orders/import"
    _import(url, past, token, "past orders", say, exists="order_exists")


def load_pictures(environment: Mapping[str, str], say: Callable[[str], None]) -> None:
    """Uploads the pictures that are kept as files and gives each product its own: the shop is open meanwhile."""
    token, stock = _log_in(environment), sample_products()
    headers = {"Content-Type": "application/octet-stream", "Authorization": f"Bearer {token}"}
    shown = {item.line["productid"]: photos_of(item) for item in stock}
    files = dict.fromkeys(file for photos in shown.values() for file, _ in photos)
    url = f"{environment['PRODUCTS_URL']}/v1/pictures"
    ids = {file: _post(url, file.read_bytes(), headers)["id"] for file in files}
    lines = [
        {
            **item.line,
            "pictures": [{"id": ids[file], "alt": alt} for file, alt in shown[item.line["productid"]]],
        }
        for item in stock
    ]
    _import(f"{environment['PRODUCTS_URL']}/v1/products/import", lines, token, "products with pictures", say)
    say(f"pictures: {len(ids)} stored")


def _has_pictures(environment: Mapping[str, str], line: dict) -> bool:
    """Whether the sample shop was loaded before, with all of it."""
    try:
        with _opened(Request(f"{environment['PRODUCTS_URL']}/v1/products/{line['productid']}")) as answer:
            return bool(json.load(answer)["pictures"])
    except HTTPError:
        return False
    except (URLError, HTTPException, OSError) as error:
        raise NotLoaded(f"{error}. Is the shop running? (`make run`)") from None


def _draw(stock: Iterable[SampleProduct], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, item in enumerate(stock):
        for name, colour in ((item.line["productid"], item.colour), *item.pictures):
            (folder / f"{name}.svg").write_text(draw(item.shape, colour, number))


def _label_categories(
    products_url: str, lines: Iterable[dict], token: str, say: Callable[[str], None]
) -> None:
    """In German; what the desk says of a category stays."""
    headers = {"Authorization": f"Bearer {token}"}
    request = Request(f"{products_url}/v1/admin/categories?limit=1", headers=headers)
    try:
        with _opened(request) as answer:
            if json.load(answer)["items"]:
                return
    except (URLError, HTTPException, OSError) as error:
        raise NotLoaded(f"categories: {error}") from None
    body = b"".join(
        json.dumps(line).encode() + b"\n" for line in categories([line["taxonomy"] for line in lines])
    )
    found = _post(
        f"{products_url}/v1/admin/categories", body, headers | {"Content-Type": "application/x-ndjson"}
    )
    if found["failed"]:
        raise NotLoaded(f"categories: {found['failed'][0]}")
    say(f"categories: {found['written']} labelled")


def _set_synonyms(products_url: str, token: str, say: Callable[[str], None]) -> None:
    """Each once: what the desk has made of it since stays."""
    headers = {
        "Content-Type": "application/json",
        "If-None-Match": "*",
        "Authorization": f"Bearer {token}",
    }
    for word, synonyms in SYNONYMS.items():
        url = f"{products_url}/v1/admin/search/synonyms/{word}"
        body = json.dumps({"synonyms": synonyms}).encode()
        try:
            with _opened(Request(url, body, headers, method="PUT")):
                pass
        except HTTPError as error:
            if error.code != 412:
                raise NotLoaded(f"PUT {url} answered {error.code}") from None
        except (URLError, HTTPException, OSError) as error:
            raise NotLoaded(f"PUT {url}: {error}. Is the shop running? (`make run`)") from None
    say(f"search synonyms: {len(SYNONYMS)} set")


def _set_terms(orders_url: str, token: str, say: Callable[[str], None]) -> None:
    """Shipping methods and tax rates; what the desk has there already stays."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    for path, contents in (("shipping-methods", SHIPPING_METHODS), ("tax-rates", TAX_RATES)):
        for content in contents:
            _post(
                f"{orders_url}/v1/admin/{path}",
                json.dumps(content).encode(),
                headers,
                exists="setting_exists",
            )
        say(f"{path}: {len(contents)} set")


def _add_promotions(orders_url: str, token: str, say: Callable[[str], None]) -> None:
    """Each once, by its name: what the desk has made of it since stays."""
    url, authorization = f"{orders_url}/v1/admin/promotions", {"Authorization": f"Bearer {token}"}
    try:
        with _opened(Request(f"{url}?limit=100", headers=authorization)) as answer:
            known = {each["name"] for each in json.load(answer)["items"]}
    except (URLError, HTTPException, OSError) as error:
        raise NotLoaded(f"GET {url}: {error}. Is the shop running? (`make run`)") from None
    headers = {"Content-Type": "application/json", **authorization}
    for content in PROMOTIONS:
        if content["name"] not in known:
            _post(url, json.dumps(content).encode(), headers, exists="code_taken")
    say(f"promotions: {len(PROMOTIONS)} set; the code WELCOME10 takes a tenth off")


def _log_in(environment: Mapping[str, str]) -> str:
    email, file = environment["ADMIN_EMAIL"], Path(environment["ADMIN_PASSWORD_FILE"])
    body = json.dumps({"email": email, "password": file.read_text().strip()}).encode()
    other = (
        f"{email} has another password on this database server: write it into {file}, "
        "or leave the sample shop out with SAMPLE_SHOP=false."
    )
    headers = {"Content-Type": "application/json"}
    return _post(f"{environment['USERS_URL']}/v1/sessions", body, headers, other)["access_token"]


def _import(
    url: str, lines: list[dict], token: str, what: str, say: Callable[[str], None], *, exists: str = ""
) -> None:
    """`exists`: the code of lines that an earlier version loaded with other content, which stay as they are."""
    headers = {"Content-Type": "application/x-ndjson", "Authorization": f"Bearer {token}"}
    done = {"created": 0, "updated": 0, "unchanged": 0}
    for start in range(0, len(lines), CHUNK):
        chunk = lines[start : start + CHUNK]
        answer = _post(url, b"".join(json.dumps(line).encode() + b"\n" for line in chunk), headers)
        if failed := [each for each in answer["failed"] if each.get("code") != exists]:
            raise NotLoaded(f"{what}: {len(failed)} lines refused, the first: {failed[0]}")
        done = {name: count + answer.get(name, 0) for name, count in done.items()}
        say(f"{what}: {start + len(chunk)} of {len(lines)}")
    say(f"{what}: " + ", ".join(f"{count} {name}" for name, count in done.items()))


def _post(url: str, body: bytes, headers: dict[str, str], unauthorized: str = "", exists: str = "") -> dict:
    """The answer; `unauthorized` is what to say to a 401, `exists` the code of a conflict that is no failure."""
    try:
        with _opened(Request(url, body, headers)) as answer:
            return json.load(answer)
    except HTTPError as error:
        if error.code == 409 and exists and (problem := json.load(error))["code"] == exists:
            return problem
        if error.code == 401 and unauthorized:
            raise NotLoaded(unauthorized) from None
        raise NotLoaded(
            f"POST {url} answered {error.code}: {error.read(1000).decode(errors='replace')}"
        ) from None
    except (URLError, HTTPException, OSError) as error:
        raise NotLoaded(f"POST {url}: {error}. Is the shop running? (`make run`)") from None


def _opened(request: Request) -> HTTPResponse:
    """A busy shop (503) is asked again when it says: nothing that is loaded is there twice for it. Raises HTTPError, also for a 503 that does
    not say when to come back or lasts."""
    ends = time.monotonic() + RETRY_SECONDS
    while True:
        try:
            return cast(HTTPResponse, urlopen(request, timeout=TIMEOUT))
        except HTTPError as error:
            wait = error.headers.get("Retry-After", "")
            if error.code != 503 or not wait.isdigit() or time.monotonic() + int(wait) > ends:
                raise
            error.close()
            time.sleep(int(wait))
