"""Archives of closed years as the desk asks for them."""

from services.storefront.clients.base import Client, once, segment
from shared.types import Json


class Archives(Client):
    """What lies in files, and what the worker is to do with it."""

    def archives(self, token: str) -> Json:
        """{folder, writable, items: of each year that has ended}"""
        return self.http.get("/v1/admin/archives", token=token, deadline=10)

    def archive(self, token: str, year: str, act: str, key: str, *, copied: bool) -> Json:
        """Has the worker `save`, `remove` or `restore` a year."""
        body = {"act": act, "copied": copied}
        return self.http.post(f"/v1/admin/archives/{segment(year)}", body, token=token, headers=once(key))

    def restore_order(self, token: str, orderid: str) -> Json:
        path = f"/v1/admin/orders/{segment(orderid)}/restoration"
        return self.http.post(path, {}, idempotent=True, token=token, deadline=20)
