"""The users service as the storefront asks it."""

from collections.abc import Mapping
from urllib.parse import urlencode

from services.storefront.clients.base import ANONYMOUS, IMPORT_SECONDS, once, segment, without_empty
from services.storefront.clients.customers import Customers
from shared.client import Answer
from shared.types import Json


class Users(Customers):
    """Accounts. `address` is the visitor's own, so that limits count browsers and not the storefront."""

    def sync(self, token: str, method: str, path: str, body: bytes | None) -> Answer:
        """The customer's own database, as `/v1/users/me/sync` speaks to PouchDB."""
        return self.http.fetch(method, f"/v1/users/me/sync/{path}", body, token=token, deadline=10)

    def register(self, body: Json, registration: str, address: str) -> None:
        """`registration` is this browser's secret: it confirms there without the password. The answer tells nothing."""
        body = {**body, "registration": registration}
        self.http.post("/v1/users/registrations", body, token=ANONYMOUS, client_address=address)

    def verify(self, token: str, proof: dict[str, str]) -> Json:
        """`proof` is a password, a new password or this browser's registration: the token alone is for programs."""
        return self.http.post("/v1/users/verify", {"token": token, **proof}, token=ANONYMOUS)

    def resend(self, email: str, registration: str, address: str) -> None:
        body = without_empty(email=email, registration=registration)
        self.http.post("/v1/users/verify/resend", body, token=ANONYMOUS, client_address=address)

    def log_in(self, email: str, password: str, address: str, device_token: str = "") -> Json:
        body = {"email": email, "password": password, "device_token": device_token}
        return self.http.post("/v1/sessions", body, token=ANONYMOUS, client_address=address)

    def refresh(self, refresh_token: str) -> Json:
        """CallCounts as a service: after a lost answer the same token may be sent again."""
        return self.http.post("/v1/sessions/refresh", {"refresh_token": refresh_token}, idempotent=True)

    def log_out(self, token: str) -> None:
        self.http.call("DELETE", "/v1/sessions", token=token)

    def ask_reset(self, email: str, address: str) -> None:
        self.http.post("/v1/password-resets", {"email": email}, token=ANONYMOUS, client_address=address)

    def reset(self, token: str, password: str) -> None:
        self.http.post("/v1/password-resets/confirm", {"token": token, "password": password}, token=ANONYMOUS)

    def me(self, token: str) -> Json:
        return self.http.get("/v1/users/me", token=token)

    def change(self, token: str, body: Json) -> Json:
        return self.http.call("PATCH", "/v1/users/me", body, token=token)

    def prefer(self, token: str, **values: str) -> Json:
        """Preferences, such as the language of e-mails."""
        return self.http.call("PATCH", "/v1/users/me/preferences", values, token=token)

    def erase(self, token: str, password: str) -> None:
        self.http.call("DELETE", "/v1/users/me", {"current_password": password}, token=token)

    def export(self, token: str) -> Answer:
        return self.http.fetch("GET", "/v1/users/me/export", token=token, deadline=IMPORT_SECONDS)

    def addresses(self, token: str) -> list[Json]:
        return list(self.http.get("/v1/users/me/addresses", token=token)["items"])

    def add_address(self, token: str, body: Json, key: str = "") -> Json:
        return self.http.post("/v1/users/me/addresses", body, token=token, headers=once(key))

    def change_address(self, token: str, address_id: str, body: Json) -> Json:
        return self.http.call("PATCH", f"/v1/users/me/addresses/{segment(address_id)}", body, token=token)

    def drop_address(self, token: str, address_id: str) -> None:
        self.http.call("DELETE", f"/v1/users/me/addresses/{segment(address_id)}", token=token)

    def put_in_basket(self, token: str, productid: str, quantity: int, currency: str = "") -> Json:
        query = f"?currency={currency}" if currency else ""
        path = f"/v1/users/me/basket/{segment(productid)}{query}"
        return self.http.put(path, {"quantity": quantity}, token=token)

    def merge_basket(self, token: str, lines: Mapping[str, int]) -> Json:
        items = [{"productid": productid, "quantity": quantity} for productid, quantity in lines.items()]
        return self.http.post("/v1/users/me/basket", {"items": items}, token=token)

    def take_from_basket(self, token: str, productid: str) -> None:
        self.http.call("DELETE", f"/v1/users/me/basket/{segment(productid)}", token=token)

    def wishes(self, token: str, cursor: str, currency: str = "", language: str = "") -> Json:
        params = without_empty(limit=50, cursor=cursor, currency=currency, language=language)
        return self.http.get("/v1/users/me/wishes", params, token=token)

    def add_wish(self, token: str, productid: str) -> Json:
        return self.http.put(f"/v1/users/me/wishes/{segment(productid)}", token=token)

    def remove_wish(self, token: str, productid: str) -> None:
        self.http.call("DELETE", f"/v1/users/me/wishes/{segment(productid)}", token=token)

    def move_wish(self, token: str, productid: str) -> Json:
        return self.http.post(f"/v1/users/me/wishes/{segment(productid)}/basket", token=token)

    def ask_stock_alert(self, token: str, sku: str, email: str, address: str) -> None:
        """`token`: of who is logged in, whose own address needs no confirmation."""
        body = {"sku": sku, **without_empty(email=email)}
        self.http.post("/v1/users/stock-alerts", body, token=token, client_address=address)

    def confirm_stock_alert(self, token: str) -> str:
        """The SKU that it is about."""
        return str(
            self.http.post("/v1/users/stock-alerts/confirmation", {"token": token}, token=ANONYMOUS)["sku"]
        )

    def cancel_stock_alert(self, token: str) -> None:
        self.http.post("/v1/users/stock-alerts/cancellation", {"token": token}, token=ANONYMOUS)

    def clear_bought(self, userid: str, bought: Mapping[str, int], date: str) -> None:
        """CallCounts as a service; what was put in after `date` stays."""
        body = {"productids": list(bought), "date": date, "quantities": dict(bought)}
        self.http.post(f"/v1/internal/users/{segment(userid)}/basket/clear", body, idempotent=True)

    def staff(self, token: str) -> Json:
        return self.http.get("/v1/admin/staff", token=token)

    def audit(self, token: str, *, cursor: str, **filters: str) -> Json:
        """What staff did, newest first."""
        asked = without_empty(limit=50, cursor=cursor, **filters)
        return self.http.get("/v1/admin/audit", asked, token=token, deadline=10)

    def audit_csv(self, token: str, **filters: str) -> Answer:
        """All that staff did."""
        path = f"/v1/admin/audit?{urlencode(without_empty(**filters))}"
        return self.http.fetch(
            "GET", path, token=token, headers={"Accept": "text/csv"}, deadline=IMPORT_SECONDS
        )

    def close_account(self, token: str, email: str, reason: str, password: str) -> None:
        """`password` is the asking admin's own."""
        body = without_empty(reason=reason, password=password)
        self.http.put(f"/v1/admin/users/{self._userid(token, email)}/closure", body, token=token)

    def open_account(self, token: str, email: str) -> None:
        path = f"/v1/admin/users/{self._userid(token, email)}/closure"
        self.http.call("DELETE", path, idempotent=True, token=token)

    def set_group(self, token: str, email: str, group: str) -> None:
        """Whose prices the owner of this e-mail pays; "" for everybody's."""
        path = f"/v1/admin/users/{self._userid(token, email)}/group"
        self.http.put(path, {"group": group}, token=token)

    def account(self, token: str, email: str) -> Json:
        """The account of who has verified this e-mail, for staff. Raises NotFound."""
        return self.http.post("/v1/admin/users/lookup", {"email": email}, idempotent=True, token=token)

    def account_of(self, token: str, userid: str) -> Json:
        """The same by its userid."""
        return self.http.get(f"/v1/admin/users/{segment(userid)}", token=token)

    def _userid(self, token: str, email: str) -> str:
        return segment(self.account(token, email)["userid"])

    def set_role(self, token: str, email: str, role: str) -> Json:
        return self.http.post(
            "/v1/admin/staff",
            {"email": email, "roles": ["customer", role] if role != "customer" else ["customer"]},
            token=token,
        )
