"""The other services as this one uses them: live prices and stock, and a person's orders."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from shared.audit import AuditQuery, milliseconds
from shared.client import ServiceClient
from shared.errors import NotFound


@dataclass(frozen=True)
class Audited:
    """A service with an audit trail of its own."""

    http: ServiceClient

    def entries(self, query: AuditQuery, limit: int, before: str | None) -> list[dict[str, Any]]:
        """See `AuditTrail.entries`. Raises Unavailable: a trail is whole or not shown."""
        asked = {
            "from": milliseconds(query.since),
            "to": milliseconds(query.until),
            "actor": query.actor,
            "subject": query.subject,
        }
        more = {"before": before} if before else {}
        return list(self.http.get("/v1/internal/audit", {**asked, "limit": limit, **more})["items"])


@dataclass(frozen=True)
class Products(Audited):
    def lookup(
        self, productids: list[str], *, currency: str | None = None, group: str = "", language: str = ""
    ) -> dict[str, dict[str, Any]]:
        """The products and variants that exist, by the productid or SKU asked for, at the prices in this currency (the shop's own without
        one) of a customer group, named in a language. Raises Unavailable."""
        if not productids:
            return {}
        asked: dict[str, Any] = {"productids": productids, "currency": currency, "group": group or None}
        if language:
            asked["language"] = language
        answer = self.http.post("/v1/products/lookup", asked, idempotent=True)
        return {offer.get("sku") or offer["productid"]: offer for offer in answer["found"]}

    def has_category(self, category: str) -> bool:
        """Whether the shop shows products in it or below it. Raises Unavailable."""
        try:
            self.http.get("/v1/categories", {"under": category, "depth": 1})
        except NotFound:
            return False
        return True

    def reviews_of(self, userid: str) -> list[dict[str, Any]]:
        """All reviews a person wrote, for the export. Raises Unavailable."""
        answer = self.http.get(f"/v1/internal/users/{quote(userid, safe='')}/reviews", deadline=30)
        return list(answer["items"])

    def forget(self, userid: str, name: str) -> None:
        """Empties what a person wrote of products, whose stars stay, and forgets searches with their name. May be repeated. Raises Unavailable."""
        path = f"/v1/internal/users/{quote(userid, safe='')}/forget"
        self.http.post(path, {"name": name}, idempotent=True, deadline=10)


@dataclass(frozen=True)
class Orders(Audited):
    def shop(self) -> dict[str, Any]:
        """The shop's {name, lines, logo}. Raises Unavailable."""
        answer: dict[str, Any] = self.http.get("/v1/internal/shop", deadline=0.5)
        return answer

    def of_user(self, userid: str) -> dict[str, list[dict[str, Any]]]:
        """All orders of a person, drafts of staff and their store credit, for the export. Raises Unavailable."""
        answer = self.http.get(f"/v1/internal/users/{quote(userid, safe='')}/orders", deadline=30)
        names = {"orders": "items", "drafts": "drafts", "store_credit": "store_credit"}
        return {ours: answer.get(theirs, []) for ours, theirs in names.items()}

    def of_customer(self, token: str, limit: int, deadline: float) -> list[dict[str, Any]]:
        """The newest orders that were paid for, as their customer sees them in a list. Raises Unavailable."""
        asked = {"limit": limit, "failed": "false"}
        return list(self.http.get("/v1/orders", asked, token=token, deadline=deadline)["items"])

    def anonymise(self, userid: str, email: str) -> None:
        """Takes the person out of their orders, and out of those that a guest made with their e-mail ("" for none); may be repeated.
        Raises Unavailable."""
        path = f"/v1/internal/users/{quote(userid, safe='')}/anonymise"
        self.http.post(path, {"email": email}, idempotent=True, deadline=10)
