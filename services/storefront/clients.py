"""The three services as the storefront uses them: one method per question, and several questions at once."""

import contextvars
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import orjson

from shared.errors import AisleError
from shared.web import ServiceClient
from shared.web.client import Answer

IMPORT_SECONDS = 120
NOBODY = ""
REVIEWS = 10


def segment(value: str) -> str:
    """An id as one segment of a path."""
    return quote(value, safe="")


def given(**params: Any) -> dict[str, Any]:
    """The parameters that are set."""
    return {name.rstrip("_"): value for name, value in params.items() if value not in (None, "")}


@dataclass(frozen=True)
class Client:
    http: ServiceClient

    def ready(self) -> None:
        self.http.get("/health/live", deadline=1)


class Products(Client):
    """The catalogue."""

    def categories(self, depth: int) -> dict:
        return self.http.get("/v1/categories", {"depth": depth}, token=NOBODY)

    def search(self, params: dict[str, Any]) -> dict:
        return self.http.get("/v1/products", params, token=NOBODY)

    def suggest(self, q: str) -> dict:
        return self.http.get("/v1/products/suggest", {"q": q}, deadline=1, token=NOBODY)

    def product(self, productid: str) -> dict:
        return self.http.get(f"/v1/products/{segment(productid)}", token=NOBODY)

    def with_reviews(self, productid: str) -> dict:
        """The product and its newest `reviews`, in one request."""
        return self.http.get(f"/v1/products/{segment(productid)}", {"reviews": REVIEWS}, token=NOBODY)

    def versioned(self, productid: str) -> tuple[dict, str]:
        """The product and its ETag, for an edit that must not undo somebody else's."""
        answer = self.http.fetch("GET", f"/v1/products/{segment(productid)}", token=NOBODY)
        return json_of(answer), answer.headers.get("ETag", "")

    def reviews(self, productid: str, cursor: str = "") -> dict:
        return self.http.get(
            f"/v1/products/{segment(productid)}/reviews", given(limit=REVIEWS, cursor=cursor), token=NOBODY
        )

    def review(self, token: str, productid: str, body: dict) -> dict:
        return self.http.post(f"/v1/products/{segment(productid)}/reviews", body, token=token)

    def lookup(self, productids: list[str]) -> dict:
        return self.http.post(
            "/v1/products/lookup", {"productids": productids}, idempotent=True, token=NOBODY
        )

    def picture(self, path: str, etag: str) -> Answer:
        return self.http.fetch(
            "GET", path, token=NOBODY, headers={"Accept": "image/*", **given(**{"If-None-Match": etag})}
        )

    def create(self, token: str, body: dict) -> dict:
        return self.http.post("/v1/products", body, token=token)

    def replace(self, token: str, productid: str, body: dict, etag: str) -> dict:
        headers = {"If-Match": etag} if etag else {}
        return self.http.put(f"/v1/products/{segment(productid)}", body, token=token, headers=headers)

    def delete(self, token: str, productid: str) -> None:
        self.http.call("DELETE", f"/v1/products/{segment(productid)}", token=token)

    def stock(self, token: str, productid: str, delta: int, reason: str) -> dict:
        body = {"delta": delta, "reason": reason}
        return self.http.post(f"/v1/products/{segment(productid)}/stock", body, token=token)

    def import_lines(self, token: str, lines: bytes) -> dict:
        headers = {"Content-Type": "application/x-ndjson"}
        answer = self.http.fetch(
            "POST", "/v1/products/import", lines, token=token, headers=headers, deadline=IMPORT_SECONDS
        )
        return json_of(answer)

    def export(self, token: str) -> Answer:
        return self.http.fetch(
            "GET", "/v1/products/export", token=token, headers={"Accept": "*/*"}, deadline=IMPORT_SECONDS
        )


class Users(Client):
    """Accounts. `address` is the visitor's own, so that limits count browsers and not the storefront."""

    def register(self, body: dict, address: str) -> dict:
        return self.http.post("/v1/users", body, token=NOBODY, client_address=address)

    def verify(self, token: str) -> dict:
        return self.http.post("/v1/users/verify", {"token": token}, token=NOBODY)

    def resend(self, email: str, address: str) -> None:
        self.http.post("/v1/users/verify/resend", {"email": email}, token=NOBODY, client_address=address)

    def log_in(self, email: str, password: str, address: str) -> dict:
        return self.http.post(
            "/v1/sessions", {"email": email, "password": password}, token=NOBODY, client_address=address
        )

    def refresh(self, refresh_token: str) -> dict:
        return self.http.post("/v1/sessions/refresh", {"refresh_token": refresh_token}, token=NOBODY)

    def log_out(self, token: str) -> None:
        self.http.call("DELETE", "/v1/sessions", token=token)

    def ask_reset(self, email: str, address: str) -> None:
        self.http.post("/v1/password-resets", {"email": email}, token=NOBODY, client_address=address)

    def reset(self, token: str, password: str) -> None:
        self.http.post("/v1/password-resets/confirm", {"token": token, "password": password}, token=NOBODY)

    def me(self, token: str) -> dict:
        return self.http.get("/v1/users/me", token=token)

    def change(self, token: str, body: dict) -> dict:
        return self.http.call("PATCH", "/v1/users/me", body, token=token)

    def erase(self, token: str, password: str) -> None:
        self.http.call("DELETE", "/v1/users/me", {"current_password": password}, token=token)

    def export(self, token: str) -> Answer:
        return self.http.fetch("GET", "/v1/users/me/export", token=token, deadline=IMPORT_SECONDS)

    def addresses(self, token: str) -> list[dict]:
        return self.http.get("/v1/users/me/addresses", token=token)["items"]

    def add_address(self, token: str, body: dict) -> dict:
        return self.http.post("/v1/users/me/addresses", body, token=token)

    def change_address(self, token: str, address_id: str, body: dict) -> dict:
        return self.http.call("PATCH", f"/v1/users/me/addresses/{segment(address_id)}", body, token=token)

    def drop_address(self, token: str, address_id: str) -> None:
        self.http.call("DELETE", f"/v1/users/me/addresses/{segment(address_id)}", token=token)

    def basket(self, token: str) -> dict:
        return self.http.get("/v1/users/me/basket", token=token)

    def put_in_basket(self, token: str, productid: str, quantity: int) -> dict:
        return self.http.put(f"/v1/users/me/basket/{segment(productid)}", {"quantity": quantity}, token=token)

    def merge_basket(self, token: str, lines: Mapping[str, int]) -> dict:
        items = [{"productid": productid, "quantity": quantity} for productid, quantity in lines.items()]
        return self.http.post("/v1/users/me/basket", {"items": items}, token=token)

    def take_from_basket(self, token: str, productid: str) -> None:
        self.http.call("DELETE", f"/v1/users/me/basket/{segment(productid)}", token=token)

    def staff(self, token: str) -> dict:
        return self.http.get("/v1/admin/staff", token=token)

    def set_role(self, token: str, email: str, role: str) -> dict:
        return self.http.post(
            "/v1/admin/staff",
            {"email": email, "roles": ["customer", role] if role != "customer" else ["customer"]},
            token=token,
        )


class Orders(Client):
    """Checkout, history and the desk."""

    def place(self, token: str, body: dict, key: str) -> dict:
        headers = {"Idempotency-Key": key}
        return self.http.post("/v1/orders", body, idempotent=True, token=token, headers=headers, deadline=20)

    def mine(self, token: str, cursor: str) -> dict:
        return self.http.get("/v1/orders", given(limit=20, cursor=cursor), token=token)

    def order(self, token: str, orderid: str) -> dict:
        return self.http.get(f"/v1/orders/{segment(orderid)}", token=token)

    def cancel(self, token: str, orderid: str) -> dict:
        return self.http.post(f"/v1/orders/{segment(orderid)}/cancellation", {}, token=token, deadline=10)

    def give_back(self, token: str, orderid: str, items: list[dict]) -> dict:
        return self.http.post(
            f"/v1/orders/{segment(orderid)}/returns", {"items": items}, token=token, deadline=10
        )

    def all(self, token: str, **filters: Any) -> dict:
        return self.http.get("/v1/admin/orders", given(**filters), token=token)

    def act(self, token: str, orderid: str, verb: str, body: dict, key: str = "") -> dict:
        """`verb`: dispatch, delivery or refunds; with a `key`, sent twice it happens once."""
        path = f"/v1/admin/orders/{segment(orderid)}/{verb}"
        headers = {"Idempotency-Key": key} if key else {}
        return self.http.post(path, body, token=token, headers=headers, deadline=10)

    def sales(self, token: str, **choice: Any) -> dict:
        return self.http.get("/v1/admin/reports/sales", given(**choice), token=token)

    def best_sellers(self, token: str, **choice: Any) -> dict:
        return self.http.get("/v1/admin/reports/best-sellers", given(**choice), token=token)

    def quote(self, token: str, items: list[dict]) -> dict:
        """What these would cost now, with delivery and tax; nothing is ordered."""
        return self.http.post("/v1/orders/quote", {"items": items}, idempotent=True, token=token)

    def dead_letters(self, token: str) -> dict:
        return self.http.get("/v1/admin/dead-letters", token=token)

    def retry(self, token: str, letter: str) -> dict:
        return self.http.post(f"/v1/admin/dead-letters/{segment(letter)}/retry", {}, token=token)

    def attempts(self, token: str) -> dict:
        return self.http.get("/v1/admin/attempts", token=token)

    def csv(self, token: str, report: str, **choice: Any) -> Answer:
        path = f"/v1/admin/reports/{report}?{urlencode(given(**choice))}"
        return self.http.fetch("GET", path, token=token, headers={"Accept": "text/csv"}, deadline=10)


def json_of(answer: Answer) -> dict:
    return orjson.loads(answer.body)


@dataclass(frozen=True)
class Services:
    """All three, and the threads that ask them side by side."""

    users: Users
    products: Products
    orders: Orders
    pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(16, "together"))

    def together(self, **calls: Callable[[], Any]) -> dict[str, Any]:
        """Runs independent calls side by side and answers under the same names. Raises the first error after all are done."""
        running = {
            name: self.pool.submit(contextvars.copy_context().run, call) for name, call in calls.items()
        }
        found = {name: (future.exception(), future) for name, future in running.items()}
        for error, _ in found.values():
            if error is not None:
                raise error
        return {name: future.result() for name, (_, future) in found.items()}


def attempt(call: Callable[[], Any], instead: Any) -> Callable[[], Any]:
    """`call` for a part of the page that may be missing: `instead` when its service says no or is away."""

    def tried() -> Any:
        try:
            return call()
        except AisleError:
            return instead

    return tried


def chunks(lines: Iterator[bytes], size: int = 500) -> Iterator[list[bytes]]:
    """Lines in groups of `size`."""
    group: list[bytes] = []
    for line in lines:
        group.append(line)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group
