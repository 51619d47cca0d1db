"""The products service as the storefront asks it."""

from typing import Any
from urllib.parse import urlencode

from services.storefront.clients.base import (
    ANONYMOUS,
    IMPORT_SECONDS,
    Client,
    json_of,
    once,
    segment,
    without_empty,
)
from shared.client import Answer
from shared.types import Json

REVIEWS = 10
WRITE_SECONDS = 10
UPLOAD_SECONDS = 40
BULK_SECONDS = 60
EXPORT_SECONDS = 3600
_DELIVERIES = "/v1/admin/supplier-deliveries"


class Products(Client):
    """The catalogue."""

    def categories(self, depth: int, language: str = "") -> Json:
        """Labelled in a language, "" being the shop's own; here and below."""
        params = {"depth": depth, **without_empty(language=language)}
        return self.http.get("/v1/categories", params, token=ANONYMOUS)

    def search(self, params: dict[str, Any], group: str = "", language: str = "") -> Json:
        """At the prices of a customer group, "" being everybody's; here and below."""
        params = params | without_empty(group=group, language=language)
        return self.http.get("/v1/products", params, token=_price_token(group))

    def search_body(
        self, params: dict[str, Any], address: str = "", group: str = "", language: str = ""
    ) -> tuple[bytes, bool]:
        """The same as JSON for a browser at this address, and whether some of it is outdated: it is to be asked for again soon."""
        query = urlencode(params | without_empty(group=group, language=language), doseq=True)
        path = f"/v1/products?{query}"
        answer = self.http.exchange(
            "GET", path, idempotent=True, token=_price_token(group), client_address=address or None
        )
        return answer.body, "Warning" in answer.headers

    def count_searches(self, searches: list[dict[str, str]]) -> None:
        """Searches that nobody asked the service for, {q, address}."""
        self.http.post("/v1/internal/searches", {"searches": searches})

    def suggest(self, q: str, currency: str = "", language: str = "") -> Json:
        params = {"q": q, **without_empty(currency=currency, language=language)}
        return self.http.get("/v1/products/suggest", params, deadline=1, token=ANONYMOUS)

    def product(self, productid: str, token: str = ANONYMOUS) -> Json:
        """With a `token` of staff also one that the shop does not show."""
        return self.http.get(f"/v1/products/{segment(productid)}", token=token)

    def product_body(
        self,
        productid: str,
        token: str = ANONYMOUS,
        currency: str = "",
        group: str = "",
        language: str = "",
    ) -> bytes:
        """The product and its newest `reviews` as JSON, in one request."""
        params = {"reviews": REVIEWS, **without_empty(currency=currency, group=group, language=language)}
        path = f"/v1/products/{segment(productid)}"
        return self.http.read(path, params, token=token or _price_token(group))

    def versioned(self, productid: str, token: str) -> tuple[Json, str]:
        """The product and its ETag, for an edit that must not undo another one."""
        answer = self.http.fetch("GET", f"/v1/products/{segment(productid)}", token=token)
        return json_of(answer), answer.headers.get("ETag", "")

    def unpublished(self, token: str, status: str, q: str, cursor: str) -> Json:
        """What the shop does not show; `status`: draft, scheduled or archived."""
        params = without_empty(status=status, q=q, cursor=cursor, limit=25)
        return self.http.get("/v1/admin/products", params, token=token)

    def bulk_edit(self, token: str, body: Json, key: str) -> Json:
        path = "/v1/admin/products/bulk-edit"
        return self.http.post(path, body, token=token, headers=once(key), deadline=BULK_SECONDS)

    def reviews_body(self, productid: str, cursor: str) -> bytes:
        """Older reviews as JSON."""
        return self.http.read(
            f"/v1/products/{segment(productid)}/reviews",
            {"limit": REVIEWS, "cursor": cursor},
            token=ANONYMOUS,
        )

    def review_eligibility(self, token: str, productid: str) -> Json:
        """{may_review, reason}"""
        return self.http.get(f"/v1/products/{segment(productid)}/reviews/eligibility", token=token)

    def review(self, token: str, productid: str, body: Json, key: str) -> Json:
        path = f"/v1/products/{segment(productid)}/reviews"
        return self.http.post(path, body, token=token, headers=once(key))

    def category_database(self, method: str, path: str, body: bytes | None) -> Answer:
        """The database of one category, as `/v1/products/sync/...` speaks to PouchDB."""
        return self.http.fetch(method, f"/v1/products/sync/{path}", body, token=ANONYMOUS, deadline=10)

    def lookup(self, productids: list[str], currency: str = "", group: str = "", language: str = "") -> Json:
        body = {
            "productids": productids,
            **without_empty(currency=currency, group=group, language=language),
        }
        return self.http.post("/v1/products/lookup", body, idempotent=True, token=_price_token(group))

    def picture(self, digest: str, name: str, etag: str) -> Answer:
        """One of its files: "640", "640.webp"; the largest without a name."""
        path = "/".join(segment(each) for each in (digest, name) if each)
        headers = {"Accept": "image/*", **without_empty(**{"If-None-Match": etag})}
        return self.http.fetch("GET", f"/v1/pictures/{path}", token=ANONYMOUS, headers=headers)

    def add_picture(self, token: str, content: bytes) -> Json:
        headers = {"Content-Type": "application/octet-stream"}
        return json_of(
            self.http.fetch(
                "POST", "/v1/pictures", content, token=token, headers=headers, deadline=UPLOAD_SECONDS
            )
        )

    def counted_queries(self, token: str, found: str, cursor: str) -> Json:
        """What customers searched for, the most frequent first."""
        return self.http.get(
            "/v1/admin/search/queries", without_empty(found=found, cursor=cursor, limit=50), token=token
        )

    def search_rules(self, token: str, kind: str, cursor: str) -> Json:
        """`kind`: synonyms, redirects or pins."""
        return self.http.get(f"/v1/admin/search/{kind}", without_empty(cursor=cursor, limit=50), token=token)

    def search_rule(self, token: str, kind: str, query: str) -> tuple[Json, str]:
        """The rule and its ETag. Raises NotFound."""
        answer = self.http.fetch("GET", _rule_path(kind, query), token=token)
        return json_of(answer), answer.headers.get("ETag", "")

    def write_search_rule(self, token: str, kind: str, query: str, body: Json, etag: str) -> Json:
        """Over the version `etag`, over any (`*`), or, without one, a new one only."""
        headers = {"If-None-Match": "*"} if not etag else {} if etag == "*" else {"If-Match": etag}
        return self.http.put(
            _rule_path(kind, query), body, token=token, headers=headers, deadline=WRITE_SECONDS
        )

    def remove_search_rule(self, token: str, kind: str, query: str) -> None:
        self.http.call("DELETE", _rule_path(kind, query), token=token, deadline=WRITE_SECONDS)

    def search_history(self, token: str, cursor: str) -> Json:
        return self.http.get("/v1/admin/search/history", without_empty(limit=50, cursor=cursor), token=token)

    def described_categories(self, token: str) -> list[Json]:
        """All categories of which something is said, by path."""
        return self._all_pages("/v1/admin/categories", token)

    def described_category(self, token: str, path: str) -> tuple[Json, str]:
        """What is said of a category, and its ETag. Raises NotFound."""
        answer = self.http.fetch("GET", f"/v1/admin/categories/{segment(path)}", token=token)
        return json_of(answer), answer.headers.get("ETag", "")

    def describe_category(self, token: str, body: Json, etag: str) -> Json:
        """Over the version `etag`, or without one over what there is."""
        headers = {"If-Match": etag} if etag else {}
        path = f"/v1/admin/categories/{segment(body['path'])}"
        return self.http.put(path, body, token=token, headers=headers, deadline=WRITE_SECONDS)

    def forget_category(self, token: str, path: str) -> None:
        self.http.call("DELETE", f"/v1/admin/categories/{segment(path)}", token=token, deadline=WRITE_SECONDS)

    def product_types(self, token: str) -> list[Json]:
        """All product types, by code."""
        return self._all_pages("/v1/admin/product-types", token)

    def product_type(self, token: str, code: str) -> tuple[Json, str]:
        """The type and its ETag."""
        answer = self.http.fetch("GET", f"/v1/admin/product-types/{segment(code)}", token=token)
        return json_of(answer), answer.headers.get("ETag", "")

    def save_product_type(self, token: str, body: Json, etag: str, key: str) -> Json:
        """A new type without an ETag, once for each `key`; else what replaces the one that has it."""
        if not etag:
            headers = once(key)
            return self.http.post(
                "/v1/admin/product-types", body, token=token, headers=headers, deadline=WRITE_SECONDS
            )
        path, headers = f"/v1/admin/product-types/{segment(body['code'])}", {"If-Match": etag}
        return self.http.put(path, body, token=token, headers=headers, deadline=WRITE_SECONDS)

    def notes(self, token: str, productid: str) -> list[Json]:
        """Of staff on a product, the latest first."""
        path = f"/v1/admin/products/{segment(productid)}/notes"
        return list(self.http.get(path, without_empty(limit=100), token=token)["items"])

    def add_note(self, token: str, productid: str, text: str, key: str) -> None:
        path = f"/v1/admin/products/{segment(productid)}/notes"
        self.http.post(path, {"text": text}, token=token, headers=once(key))

    def create(self, token: str, body: Json, key: str) -> Json:
        return self.http.post("/v1/products", body, token=token, headers=once(key), deadline=WRITE_SECONDS)

    def price_history(self, token: str, productid: str) -> list[Json]:
        """The price changes of a product and its variants, the newest first."""
        return list(self.http.get(f"/v1/products/{segment(productid)}/prices", token=token)["items"])

    def replace(self, token: str, productid: str, body: Json, etag: str) -> Json:
        headers = {"If-Match": etag} if etag else {}
        path = f"/v1/products/{segment(productid)}"
        return self.http.put(path, body, token=token, headers=headers, deadline=WRITE_SECONDS)

    def delete(self, token: str, productid: str) -> None:
        path = f"/v1/products/{segment(productid)}"
        self.http.call("DELETE", path, token=token, deadline=WRITE_SECONDS)

    def stock(self, token: str, productid: str, delta: int, reason: str, key: str, sku: str = "") -> Json:
        """`sku`: of which variant."""
        path = f"/v1/products/{segment(productid)}/stock"
        body = {"delta": delta, "reason": reason, **without_empty(sku=sku)}
        return self.http.post(path, body, token=token, headers=once(key), deadline=WRITE_SECONDS)

    def change_stocks(self, token: str, changes: list[Json], reason: str, key: str) -> Json:
        """`changes`: {sku, delta or level}, at most 200."""
        body = {"changes": changes, "reason": reason}
        path = "/v1/admin/products/stock"
        return self.http.post(path, body, token=token, headers=once(key), deadline=BULK_SECONDS)

    def count_at_stall(self, token: str, body: Json) -> Json:
        """What was counted there, perhaps some time ago; the same `id` again is booked once."""
        return self.http.post(
            "/v1/admin/stall/counts", body, idempotent=True, token=token, deadline=BULK_SECONDS
        )

    def deliveries(self, token: str, cursor: str) -> Json:
        return self.http.get(_DELIVERIES, without_empty(limit=25, cursor=cursor), token=token)

    def delivery(self, token: str, deliveryid: str) -> Json:
        return self.http.get(f"{_DELIVERIES}/{segment(deliveryid)}", token=token)

    def expect_delivery(self, token: str, body: Json, key: str) -> Json:
        return self.http.post(_DELIVERIES, body, token=token, headers=once(key))

    def receive_delivery(self, token: str, deliveryid: str, body: Json, key: str) -> Json:
        path = f"{_DELIVERIES}/{segment(deliveryid)}/receipts"
        return self.http.post(path, body, token=token, headers=once(key), deadline=BULK_SECONDS)

    def low_stock(self, token: str, cursor: str) -> Json:
        return self.http.get("/v1/products/low-stock", without_empty(limit=25, cursor=cursor), token=token)

    def stock_value(self, token: str, **choice: Any) -> Json:
        """What the goods in stock cost to buy, by category and currency."""
        return self.http.get("/v1/products/stock-value", without_empty(**choice), token=token)

    def stock_value_csv(self, token: str, **choice: Any) -> Answer:
        path = f"/v1/products/stock-value?{urlencode(without_empty(**choice))}"
        return self.http.fetch("GET", path, token=token, headers={"Accept": "text/csv"}, deadline=10)

    def import_lines(self, token: str, lines: bytes) -> Json:
        headers = {"Content-Type": "application/x-ndjson"}
        answer = self.http.fetch(
            "POST", "/v1/products/import", lines, token=token, headers=headers, deadline=IMPORT_SECONDS
        )
        return json_of(answer)

    def import_export(self, token: str, content: bytes, **query: Any) -> Json:
        """A file as another shop exported it; `query` as the API has it."""
        path = f"/v1/products/import?{urlencode(query)}"
        headers = {"Content-Type": "text/csv"}
        answer = self.http.fetch("POST", path, content, token=token, headers=headers, deadline=EXPORT_SECONDS)
        return json_of(answer)

    def import_progress(self, token: str, name: str) -> Json:
        return self.http.get(f"/v1/products/imports/{segment(name)}", token=token)

    def export(self, token: str) -> Answer:
        return self.http.fetch(
            "GET", "/v1/products/export", token=token, headers={"Accept": "*/*"}, deadline=IMPORT_SECONDS
        )

    def _all_pages(self, path: str, token: str) -> list[Json]:
        """The items of every page of a list."""
        found: list[Json] = []
        cursor: str | None = ""
        while cursor is not None:
            page = self.http.get(path, without_empty(limit=100, cursor=cursor), token=token)
            found += page["items"]
            cursor = page["next"]
        return found


def _price_token(group: str) -> str | None:
    """A customer group's prices are answered to services and to its members: the storefront knows its visitor's group."""
    return None if group else ANONYMOUS


def _rule_path(kind: str, query: str) -> str:
    """A query is its words: a slash, which would end a segment of a path, stands between two like a space."""
    return f"/v1/admin/search/{kind}/{segment(query.replace('/', ' '))}"
