"""The orders service as the storefront asks it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from services.storefront.clients.archives import Archives
from services.storefront.clients.base import ANONYMOUS, json_of, once, segment, without_empty
from services.storefront.clients.drafts import Drafts
from services.storefront.clients.stall import Stall
from shared.client import Answer
from shared.errors import NotFound
from shared.types import Json

PRINT_SECONDS = 20
LABEL_SECONDS = 25


@dataclass(frozen=True)
class Requester:
    """Who asks for an order: a user by access token, or a guest by the order's own token."""

    token: str = ANONYMOUS
    order_token: str = ""

    @property
    def options(self) -> dict[str, Any]:
        return {
            "token": self.token,
            "headers": {"X-Order-Token": self.order_token} if self.order_token else {},
        }


class Orders(Drafts, Stall, Archives):
    """Checkout, history and the desk."""

    def place(self, token: str, body: Json, key: str, address: str) -> Json:
        """`address` is the visitor's own, so that limits count browsers and not the storefront."""
        return self.http.post(
            "/v1/orders",
            body,
            idempotent=True,
            token=token,
            headers={"Idempotency-Key": key},
            client_address=address,
            deadline=20,
        )

    def mine(self, token: str, cursor: str) -> Json:
        """One's orders, without attempts whose payment was declined."""
        return self.http.get(
            "/v1/orders", without_empty(limit=20, failed="false", cursor=cursor), token=token
        )

    def order(self, requester: Requester, orderid: str) -> Json:
        return self.http.get(f"/v1/orders/{segment(orderid)}", **requester.options)

    def invoice(self, requester: Requester, orderid: str) -> Json:
        """Its number, day and seller; it is issued when it is asked for first."""
        options = requester.options
        options["headers"] |= {"Accept": "application/json"}
        return self.http.get(f"/v1/orders/{segment(orderid)}/invoice", deadline=5, **options)

    def invoice_pdf(self, requester: Requester, orderid: str) -> Answer:
        return self._pdf(f"/v1/orders/{segment(orderid)}/invoice.pdf", requester)

    def credit_note_pdf(self, requester: Requester, orderid: str, number: int) -> Answer:
        """Of the refund with this number."""
        return self._pdf(f"/v1/orders/{segment(orderid)}/credit-notes/{number}.pdf", requester)

    def return_slip_pdf(self, requester: Requester, orderid: str, number: int) -> Answer:
        """Of an approved return, by its number."""
        return self._pdf(f"/v1/orders/{segment(orderid)}/returns/{number}/slip.pdf", requester)

    def return_label_pdf(self, requester: Requester, orderid: str, number: int) -> Answer:
        """That was bought for an approved return, by its number."""
        return self._pdf(f"/v1/orders/{segment(orderid)}/returns/{number}/label.pdf", requester)

    def return_label_form_pdf(self, requester: Requester, orderid: str, number: int, form: int) -> Answer:
        """A form for customs that goes with it, by its number."""
        return self._pdf(f"/v1/orders/{segment(orderid)}/returns/{number}/forms/{form}.pdf", requester)

    def buy_return_label(self, token: str, orderid: str, number: int, body: Json) -> Json:
        """{carrier, service, tracking_code, tracking_url, cost} of the label; carriers take seconds."""
        path = f"/v1/admin/orders/{segment(orderid)}/returns/{number}/label"
        return self.http.post(path, body, idempotent=True, token=token, deadline=LABEL_SECONDS)

    def buy_label(self, token: str, orderid: str, body: Json, key: str) -> Json:
        """For a parcel with `items`: {number, carrier, service, tracking_code, cost ...}; bought once for a key."""
        path = f"/v1/admin/orders/{segment(orderid)}/labels"
        return self.http.post(
            path, body, idempotent=True, token=token, headers=once(key), deadline=LABEL_SECONDS
        )

    def label_pdf(self, token: str, orderid: str, number: int) -> Answer:
        """Of a parcel that goes out, by the label's number."""
        return self._pdf(f"/v1/admin/orders/{segment(orderid)}/labels/{number}/label.pdf", Requester(token))

    def label_form_pdf(self, token: str, orderid: str, number: int, form: int) -> Answer:
        """A form for customs that goes with it, by its number."""
        path = f"/v1/admin/orders/{segment(orderid)}/labels/{number}/forms/{form}.pdf"
        return self._pdf(path, Requester(token))

    def packing_slip_pdf(self, token: str, orderid: str, parcel: str) -> Answer:
        """Of a parcel that left, by its number; of what is left to send without one."""
        query = f"?{urlencode({'parcel': parcel})}" if parcel else ""
        return self._pdf(f"/v1/admin/orders/{segment(orderid)}/packing-slip.pdf{query}", Requester(token))

    def _pdf(self, path: str, requester: Requester) -> Answer:
        return self.http.fetch("GET", path, deadline=PRINT_SECONDS, **requester.options)

    def cancel(
        self,
        requester: Requester,
        orderid: str,
        items: Sequence[Json] = (),
        reason: str = "",
        key: str = "",
    ) -> Json:
        """The whole order, or these `items` of it."""
        path, options = f"/v1/orders/{segment(orderid)}/cancellation", requester.options
        options["headers"] |= once(key)
        body = {"items": list(items), "reason": reason} if items else {}
        return self.http.post(path, body, deadline=10, **options)

    def refresh_payment(self, requester: Requester, orderid: str) -> Json:
        """The order after its payment provider was asked what the customer did on its page."""
        path = f"/v1/orders/{segment(orderid)}/payment"
        return self.http.post(path, {}, idempotent=True, deadline=10, **requester.options)

    def end_payment(self, requester: Requester, orderid: str) -> Json:
        """The order after its payment page was ended; paid when that was first."""
        path = f"/v1/orders/{segment(orderid)}/payment/cancellation"
        return self.http.post(path, {}, idempotent=True, deadline=10, **requester.options)

    def authorizations(self, token: str) -> Json:
        """Reserved money that expires soon."""
        return self.http.get("/v1/admin/authorizations", token=token)

    def request_return(
        self, requester: Requester, orderid: str, items: list[Json], reason: str, note: str, key: str
    ) -> Json:
        """Nothing is paid back before the shop has received the goods."""
        path, options = f"/v1/orders/{segment(orderid)}/returns", requester.options
        options["headers"] |= once(key)
        body = {"items": items, "reason": reason, "note": note}
        return self.http.post(path, body, deadline=10, **options)

    def all(self, token: str, **filters: Any) -> Json:
        """The desk's list, newest first: by status, q, product, open_returns, from and to."""
        return self.http.get("/v1/admin/orders", without_empty(**filters), token=token)

    def counts(self, token: str, **filters: Any) -> Json:
        """{total, counts: {status: number}} of the orders that these filters leave, whenever they were placed."""
        return self.http.get("/v1/admin/orders/counts", without_empty(**filters), token=token)

    def notes(self, token: str, orderid: str) -> list[Json]:
        """Of staff on an order, the latest first."""
        path = f"/v1/admin/orders/{segment(orderid)}/notes"
        return list(self.http.get(path, without_empty(limit=100), token=token)["items"])

    def emails(self, token: str, orderid: str) -> list[Json]:
        """What went out about an order, the latest first."""
        path = f"/v1/admin/orders/{segment(orderid)}/emails"
        return list(self.http.get(path, without_empty(limit=100), token=token)["items"])

    def email(self, token: str, orderid: str, kind: str, language: str) -> Json:
        """What one reads like, in a language."""
        path = f"/v1/admin/orders/{segment(orderid)}/emails/{segment(kind)}"
        return self.http.get(path, without_empty(language=language), token=token)

    def of_customer(self, token: str, userid: str, cursor: str = "") -> Json:
        """All orders of a customer, newest first."""
        asked = without_empty(limit=10, customer=userid, cursor=cursor)
        return self.http.get("/v1/admin/orders", asked, token=token)

    def spend(self, token: str, **whose: str) -> list[Json]:
        """What a `customer` (a userid), or a guest by `email`, has paid and got back, by currency."""
        return list(self.http.get("/v1/admin/orders/spend", whose, token=token)["items"])

    def export_guest(self, token: str, email: str) -> Json:
        """Every order that was made as a guest with this e-mail, whole."""
        return self.http.post("/v1/admin/guests/export", {"email": email}, token=token, deadline=30)

    def erase_guest(self, token: str, email: str) -> int:
        """How many orders lost their name."""
        path = "/v1/admin/guests/erasure"
        return int(self.http.post(path, {"email": email}, token=token, deadline=30)["orders"])

    def act(self, token: str, orderid: str, verb: str, body: Json, key: str = "") -> Json:
        """`verb`: dispatch, delivery, refunds, notes, or what is done with a return: returns/1/approval."""
        path = f"/v1/admin/orders/{segment(orderid)}/{verb}"
        return self.http.post(path, body, token=token, headers=once(key), deadline=10)

    def sales(self, token: str, **choice: Any) -> Json:
        return self.http.get("/v1/admin/reports/sales", without_empty(**choice), token=token)

    def comparison(self, token: str, **span: Any) -> list[Json]:
        """What a period brought, and the one before it, by currency."""
        path = "/v1/admin/reports/comparison"
        return list(self.http.get(path, without_empty(**span), token=token)["rows"])

    def customers_report(self, token: str, **span: Any) -> Json:
        """What new and returning customers brought, by month."""
        return self.http.get("/v1/admin/reports/customers", without_empty(**span), token=token)

    def margin(self, token: str, **choice: Any) -> Json:
        """What was left of sales over their costs, by period."""
        return self.http.get("/v1/admin/reports/margin", without_empty(**choice), token=token)

    def best_sellers(self, token: str, **choice: Any) -> Json:
        return self.http.get("/v1/admin/reports/best-sellers", without_empty(**choice), token=token)

    def quote(self, token: str, items: list[Json], *, visitor: str = "", **place: Any) -> Json:
        """What these would cost now, with discounts, delivery and tax; `place`: address, shipping, currency, codes, gift_cards,
        store_credit. Nothing is ordered."""
        body = {"items": items, **without_empty(**place)}
        return self.http.post("/v1/orders/quote", body, idempotent=True, token=token, client_address=visitor)

    def gift_card_balance(self, code: str, address: str) -> Json:
        """What is left on a gift card; `address` is the visitor's own, so that guesses are counted by browser."""
        return self.http.post(
            "/v1/gift-cards/balance", {"code": code}, idempotent=True, token=ANONYMOUS, client_address=address
        )

    def store_credit(self, token: str) -> list[Json]:
        """One's own, by currency."""
        return list(self.http.get("/v1/store-credit", token=token)["items"])

    def gift_cards(self, token: str, cursor: str) -> Json:
        return self.http.get("/v1/admin/gift-cards", without_empty(limit=50, cursor=cursor), token=token)

    def gift_card(self, token: str, id: str) -> Json:
        return self.http.get(f"/v1/admin/gift-cards/{segment(id)}", token=token)

    def issue_gift_card(self, token: str, body: Json, key: str) -> Json:
        """The new card with its code, which nobody can read again."""
        return self.http.post("/v1/admin/gift-cards", body, token=token, headers=once(key))

    def correct_gift_card(self, token: str, id: str, body: Json, key: str) -> Json:
        return self.http.put(f"/v1/admin/gift-cards/{segment(id)}", body, token=token, headers=once(key))

    def correct_gift_recipient(self, token: str, orderid: str, body: Json, key: str) -> Json:
        """The codes of an order's gift cards, where they are out, go to this address, too."""
        path = f"/v1/admin/orders/{segment(orderid)}/gift-recipient"
        return self.http.put(path, body, token=token, headers=once(key), deadline=10)

    def customers_store_credit(self, token: str, userid: str) -> list[Json]:
        """With all that happened to it."""
        return list(self.http.get(f"/v1/admin/store-credit/{segment(userid)}", token=token)["items"])

    def grant_store_credit(self, token: str, userid: str, body: Json, key: str) -> Json:
        return self.http.post(
            f"/v1/admin/store-credit/{segment(userid)}", body, token=token, headers=once(key)
        )

    def payment_methods(self, token: str) -> list[Json]:
        """Cards that a customer keeps at the payment providers."""
        return list(self.http.get("/v1/orders/payment-methods", token=token)["items"])

    def shipping_methods(self) -> Json:
        """How the shop delivers, and where to."""
        return self.http.get("/v1/shipping-methods", token=ANONYMOUS)

    def automatic_promotions(self) -> Json:
        """What lowers prices without a code."""
        return self.http.get("/v1/promotions", token=ANONYMOUS)

    def promotion_uses(self, token: str, id: str) -> Json:
        """{used, limit} of a promotion that is counted."""
        return self.http.get(f"/v1/admin/promotions/{segment(id)}/uses", token=token)

    def settings(self, token: str, kind: str) -> list[Json]:
        """`kind`: shipping-methods, tax-rates or promotions."""
        return list(self.http.get(f"/v1/admin/{kind}", without_empty(limit=100), token=token)["items"])

    def setting(self, token: str, kind: str, id: str) -> tuple[Json, str]:
        """One of them, and its ETag."""
        answer = self.http.fetch("GET", f"/v1/admin/{kind}/{segment(id)}", token=token)
        return json_of(answer), answer.headers.get("ETag", "")

    def versions(self, token: str, kind: str, id: str) -> list[Json]:
        """Every version of it, the latest first."""
        return list(
            self.http.get(f"/v1/admin/{kind}/{segment(id)}/history", without_empty(limit=100), token=token)[
                "items"
            ]
        )

    def save_setting(self, token: str, kind: str, id: str, body: Json, etag: str, key: str = "") -> Json:
        """A new version over the one of `etag`; without one, a new one of the kind, once for each `key`."""
        if not etag:
            return self.http.post(f"/v1/admin/{kind}", body, token=token, headers=once(key))
        headers = {"If-Match": etag}
        return self.http.put(f"/v1/admin/{kind}/{segment(id)}", body, token=token, headers=headers)

    def shop_settings(self, token: str) -> tuple[Json | None, str]:
        """The shop's own settings and their ETag; None and "" while the environment's hold."""
        try:
            answer = self.http.fetch("GET", "/v1/admin/settings", token=token)
        except NotFound:
            return None, ""
        return json_of(answer), answer.headers.get("ETag", "")

    def shop_versions(self, token: str) -> list[Json]:
        """Every version of them, the latest first."""
        return list(
            self.http.get("/v1/admin/settings/history", without_empty(limit=100), token=token)["items"]
        )

    def save_shop_settings(self, token: str, body: Json, etag: str) -> Json:
        """A new version over the one of `etag`, the first without one."""
        headers = {"If-Match": etag} if etag else {"If-None-Match": "*"}
        return self.http.put("/v1/admin/settings", body, token=token, headers=headers)

    def tax(self, token: str, **span: Any) -> list[Json]:
        return list(self.http.get("/v1/admin/reports/tax", without_empty(**span), token=token)["rows"])

    def dead_letters(self, token: str) -> Json:
        return self.http.get("/v1/admin/dead-letters", without_empty(limit=100), token=token)

    def retry(self, token: str, dead_letter: str) -> Json:
        return self.http.post(f"/v1/admin/dead-letters/{segment(dead_letter)}/retry", {}, token=token)

    def attempts(self, token: str) -> Json:
        return self.http.get("/v1/admin/attempts", token=token)

    def csv(self, token: str, report: str, **choice: Any) -> Answer:
        path = f"/v1/admin/reports/{report}?{urlencode(without_empty(**choice))}"
        return self.http.fetch("GET", path, token=token, headers={"Accept": "text/csv"}, deadline=10)
