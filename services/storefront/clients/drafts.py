"""Draft orders as the desk asks for them."""

from services.storefront.clients.base import Client, json_of, once, segment, without_empty
from shared.client import Answer
from shared.types import Json

PATH = "/v1/admin/drafts"


class Drafts(Client):
    """What staff write down for customers, and place."""

    def drafts(self, token: str, cursor: str) -> Json:
        """The newest first."""
        return self.http.get(PATH, without_empty(limit=25, cursor=cursor), token=token)

    def draft(self, token: str, id: str) -> tuple[Json, str]:
        """One with its quote, and its ETag."""
        return _versioned(self.http.exchange("GET", f"{PATH}/{segment(id)}", idempotent=True, token=token))

    def add_draft(self, token: str, body: Json, key: str) -> Json:
        return self.http.post(PATH, body, token=token, headers=once(key), deadline=10)

    def change_draft(self, token: str, id: str, body: Json, etag: str) -> Json:
        """Over the version of `etag`."""
        headers = {"If-Match": etag} if etag else {}
        return self.http.put(f"{PATH}/{segment(id)}", body, token=token, headers=headers)

    def remove_draft(self, token: str, id: str) -> None:
        self.http.call("DELETE", f"{PATH}/{segment(id)}", token=token)

    def place_draft(self, token: str, id: str, body: Json) -> Json:
        """The order; the same again is the same order."""
        return self.http.post(f"{PATH}/{segment(id)}/order", body, idempotent=True, token=token, deadline=20)

    def sandbox_page(self, orderid: str, key: str) -> Json:
        """What the sandbox's payment page shows."""
        return self.http.get(f"/v1/orders/{segment(orderid)}/sandbox-payment", {"key": key})

    def pay_at_sandbox(self, orderid: str, key: str, card: str) -> Json:
        path = f"/v1/orders/{segment(orderid)}/sandbox-payment"
        return self.http.post(path, {"key": key, "token": card}, idempotent=True, deadline=10)


def _versioned(answer: Answer) -> tuple[Json, str]:
    return json_of(answer), answer.headers.get("ETag", "")
