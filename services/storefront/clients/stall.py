"""Sales at a stall, as the desk and its devices tell the orders service of them."""

from urllib.parse import urlencode

from services.storefront.clients.base import Client, once, segment, without_empty
from shared.client import Answer
from shared.types import Json

PATH = "/v1/admin/stall"


class Stall(Client):
    """What staff sold elsewhere."""

    def record_sale(self, token: str, body: Json, key: str) -> Json:
        """The order; the same key again is the same order."""
        return self.http.post(
            f"{PATH}/sales", body, idempotent=True, token=token, headers=once(key), deadline=20
        )

    def stall_goods(self, token: str, category: str, currency: str, language: str) -> list[Json]:
        """What can be sold of one category, each variant by itself, at prices with the tax."""
        body = {"category": category, **without_empty(currency=currency, language=language)}
        found = self.http.post(f"{PATH}/goods", body, idempotent=True, token=token, deadline=10)
        items: list[Json] = found["items"]
        return items

    def stall_day(self, token: str, day: str) -> Json:
        return self.http.get(f"{PATH}/days/{segment(day)}", token=token)

    def stall_sales_csv(self, token: str, first: str, last: str, stall: str) -> Answer:
        """Of these days, both included, at one stall or (without a name) all."""
        query = urlencode({"from": first, "to": last, **without_empty(stall=stall)})
        accept = {"Accept": "text/csv"}
        return self.http.fetch("GET", f"{PATH}/sales?{query}", token=token, headers=accept, deadline=20)

    def settle_oversold(self, token: str, orderid: str, outcome: str) -> Json:
        path = f"{PATH}/oversold/{segment(orderid)}/settlement"
        return self.http.post(path, {"outcome": outcome}, idempotent=True, token=token)

    def cash_up(self, token: str, body: Json, key: str) -> Json:
        return self.http.post(f"{PATH}/cash-ups", body, token=token, headers=once(key))

    def oversold(self, token: str, cursor: str) -> Json:
        """The newest first."""
        return self.http.get(f"{PATH}/oversold", without_empty(limit=25, cursor=cursor), token=token)
