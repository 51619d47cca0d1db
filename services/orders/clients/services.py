"""The other two services, as far as an order needs them."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from shared.client import ServiceClient
from shared.errors import Conflict

Doc = dict[str, Any]
Document = Mapping[str, Any]

ANY_NUMBER = 10**9
"""May wait of goods that are sold beyond their stock without a limit."""


class OutOfStock(Conflict):
    code, title = "out_of_stock", "There is not enough in stock"


class ReservationClosed(Conflict):
    """The reservation ended before the order was paid, and others have the goods."""

    code, title = "reservation_closed", "The goods are not reserved for this order any more"


class Users:
    """Who buys, and their basket."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def checkout(self, userid: str, address_id: str = "") -> Doc:
        """{userid, name, email, addresses, basket} in one call; the address that is named is among them if there is one."""
        path = f"/v1/internal/users/{quote(userid, safe='')}/checkout"
        customer: Doc = self._client.get(path, {"address_id": address_id} if address_id else None)
        return customer

    def clear_basket(self, userid: str, bought: Mapping[str, int], date: str) -> None:
        """What was ordered on `date` leaves the basket; how many by keys as `line_key` gives them."""
        path = f"/v1/internal/users/{quote(userid, safe='')}/basket/clear"
        self._client.post(
            path, {"productids": list(bought), "date": date, "quantities": dict(bought)}, idempotent=True
        )


class Products:
    """What is sold, and the stock that is kept for an order."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def lookup(
        self,
        productids: list[str],
        *,
        currency: str | None = None,
        group: str = "",
        language: str = "",
        costs: bool = False,
    ) -> dict[str, Doc]:
        """The products and variants that exist, by the productid or SKU asked for; all of them in one call, at the prices in this currency
        (the shop's own without one) of a customer group, named in a language. `costs`: each with its `cost` to the shop, where that is known."""
        asked: Doc = {"productids": productids, "currency": currency, "group": group or None}
        if language:
            asked["language"] = language
        if costs:
            asked["costs"] = True
        answer = self._client.post("/v1/products/lookup", asked, idempotent=True)
        return {offer.get("sku") or offer["productid"]: offer for offer in answer["found"]}

    def offers_in(self, category: str, currency: str | None, language: str) -> dict[str, Doc]:
        """What is sold of one category, the cheapest products first, each variant by itself, by the productid or SKU it is bought by."""
        asked = {"category": category, "currency": currency, "language": language or None}
        answer = self._client.post("/v1/internal/offers", asked, idempotent=True)
        return {offer.get("sku") or offer["productid"]: offer for offer in answer["items"]}

    def picture(self, id: str) -> bytes:
        """A picture that was uploaded, small enough for the head of a page."""
        return self._client.fetch("GET", f"/v1/pictures/{quote(id, safe='')}/640").body

    def reserve(self, orderid: str, basket: Sequence[Document], expires: str, *, again: bool) -> None:
        """Keeps the goods for this order; a second time (`again`: they may be kept already) changes nothing.

        Raises OutOfStock, or ReservationClosed after a release.
        """
        body = {"orderid": orderid, "items": _stock_lines(basket), "expires": expires, "again": again}
        self._post("/v1/internal/reservations", body)

    def sell_anyway(
        self, orderid: str, basket: Sequence[Document], expires: str, sold_at: str, *, again: bool
    ) -> None:
        """Goods that were handed over at `sold_at` leave the stock, below zero where the chain has too few. May be repeated (`again`)."""
        items = [_stock_line(line) | {"backorder_limit": ANY_NUMBER} for line in basket]
        body = {"orderid": orderid, "items": items, "expires": expires, "again": again, "happened": sold_at}
        with suppress(ReservationClosed):  # it ran out before it was confirmed, which takes the goods again
            self._post("/v1/internal/reservations", body)
        path = f"/v1/internal/reservations/{quote(orderid, safe='')}/confirmation"
        self._post(path, {"items": items, "happened": sold_at})

    def keep_on(self, orderid: str, basket: Sequence[Document], expires: str) -> None:
        """What is reserved for this order stays so until then, if that is later. May be repeated."""
        path = f"/v1/internal/reservations/{quote(orderid, safe='')}/extension"
        self._post(path, {"items": _stock_lines(basket), "expires": expires})

    def confirm(self, orderid: str, basket: Sequence[Document]) -> None:
        """The reserved goods are sold; were they given back, they are taken again. Raises ReservationClosed when they cannot."""
        self._end(orderid, "confirmation", basket)

    def release(self, orderid: str, basket: Sequence[Document]) -> None:
        """The goods are given back, once, whether they were reserved or sold."""
        self._end(orderid, "release", basket)

    def take_back(self, orderid: str, lines: Sequence[Document], reference: str) -> None:
        """Sold goods came back and are in stock again: once for each `reference`."""
        self._end(orderid, "release", lines, reference=reference)

    def waiting(self, baskets: Mapping[str, Sequence[Document]]) -> dict[str, dict[str, int]]:
        """How many pieces of each line are sold and not here yet, by order id and SKU (of what has no variants, productid)."""
        asked = [{"orderid": orderid, "items": _stock_lines(lines)} for orderid, lines in baskets.items()]
        answer = self._client.post("/v1/internal/waiting", {"orders": asked}, idempotent=True)
        return {
            each["orderid"]: {line["sku"]: line["waiting"] for line in each["items"]}
            for each in answer["orders"]
        }

    def _end(self, orderid: str, how: str, basket: Sequence[Document], **more: str) -> None:
        path = f"/v1/internal/reservations/{quote(orderid, safe='')}/{how}"
        self._post(path, {"items": _stock_lines(basket), **more})

    def _post(self, path: str, body: Doc) -> None:
        try:
            self._client.post(path, body, idempotent=True)
        except Conflict as refusal:
            known = {error.code: error for error in (OutOfStock, ReservationClosed)}
            if refusal.code not in known:
                raise
            raise known[refusal.code](refusal.detail, **refusal.extra) from None


def _stock_lines(basket: Sequence[Document]) -> list[Doc]:
    return [_stock_line(line) for line in basket]


def _stock_line(line: Document) -> Doc:
    named = {name: line[name] for name in ("productid", "sku", "taxonomy", "quantity") if name in line}
    backorder = line.get("backorder")
    return named | ({"backorder_limit": backorder.get("limit") or ANY_NUMBER} if backorder else {})
