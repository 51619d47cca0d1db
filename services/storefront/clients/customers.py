"""Customers as the users service shows them to the desk."""

from urllib.parse import urlencode

from services.storefront.clients.base import IMPORT_SECONDS, Client, json_of, once, segment, without_empty
from shared.client import Answer
from shared.types import Json

CUSTOMERS = "/v1/admin/customers"


class Customers(Client):
    """The list, one customer, notes, e-mails, and what an admin does for one who asks."""

    def customers(self, token: str, *, q: str, group: str, cursor: str) -> Json:
        """Newest first."""
        return self.http.get(CUSTOMERS, without_empty(limit=25, q=q, group=group, cursor=cursor), token=token)

    def customer(self, token: str, userid: str) -> Json:
        """With addresses, preferences and notes. Raises NotFound."""
        return self.http.get(f"{CUSTOMERS}/{segment(userid)}", token=token)

    def note_customer(self, token: str, userid: str, text: str, key: str) -> None:
        path = f"{CUSTOMERS}/{segment(userid)}/notes"
        self.http.post(path, {"text": text}, token=token, headers=once(key))

    def account_emails(self, token: str, userid: str) -> list[Json]:
        """Which went out, the latest first."""
        path = f"{CUSTOMERS}/{segment(userid)}/emails"
        return list(self.http.get(path, without_empty(limit=100), token=token)["items"])

    def account_email(self, token: str, userid: str, kind: str, language: str) -> Json:
        """What one reads like, in a language."""
        path = f"{CUSTOMERS}/{segment(userid)}/emails/{segment(kind)}"
        return self.http.get(path, without_empty(language=language), token=token)

    def send_account_email(self, token: str, userid: str, kind: str, key: str) -> None:
        path = f"{CUSTOMERS}/{segment(userid)}/emails"
        self.http.post(path, {"kind": kind}, token=token, headers=once(key), deadline=10)

    def set_customer_group(self, token: str, userid: str, group: str) -> None:
        """Whose prices the customer pays; "" for everybody's."""
        self.http.put(f"/v1/admin/users/{segment(userid)}/group", {"group": group}, token=token)

    def export_customer(self, token: str, userid: str) -> Answer:
        """Everything there is of a customer, as a JSON file."""
        path = f"{CUSTOMERS}/{segment(userid)}/export"
        return self.http.fetch("POST", path, token=token, deadline=IMPORT_SECONDS)

    def erase_customer(self, token: str, userid: str, password: str) -> None:
        """`password` is the asking admin's own."""
        body = {"password": password}
        self.http.call("DELETE", f"/v1/admin/users/{segment(userid)}", body, token=token, deadline=30)

    def import_customers(self, token: str, content: bytes, media_type: str, **query: str) -> Json:
        """A file as it was chosen; `query` as the API has it."""
        path = f"{CUSTOMERS}/import?{urlencode(without_empty(**query))}"
        headers = {"Content-Type": media_type}
        answer = self.http.fetch("POST", path, content, token=token, headers=headers, deadline=IMPORT_SECONDS)
        return json_of(answer)

    def customers_import_progress(self, token: str, name: str) -> Json:
        return self.http.get(f"{CUSTOMERS}/imports/{segment(name)}", token=token)

    def export_customers(self, token: str) -> Answer:
        """All of them as a CSV file that an import takes."""
        return self.http.fetch("POST", f"{CUSTOMERS}/export", token=token, deadline=IMPORT_SECONDS)
