"""A request to order, priced: what the first bulk of a checkout writes."""

from dataclasses import dataclass
from typing import Any

from services.orders.actions.code_uses import check_uses, plan_uses, shopper
from services.orders.declarations.order import ORDER_CONTENT
from services.orders.declarations.promotions import PlannedUse
from services.orders.dependencies import Dependencies
from services.orders.documents import CUSTOMER, ORDER, order_key
from services.orders.rules.addresses import delivery_address, destination_of, saved_address
from services.orders.rules.pricing import Quote, QuoteRequest, check_expected, merged, quote
from services.orders.rules.writing import items_of
from shared.clock import timestamp
from shared.couch import Doc, Document
from shared.errors import Invalid


class NoSuchAddress(Invalid):
    code, title = "unknown_address", "You have no such address"


@dataclass(frozen=True)
class Buyer:
    """A customer by user id, or a guest by e-mail address."""

    userid: str | None
    email: str = ""
    name: str = ""
    mail_limited: bool = False
    group: str = ""

    @property
    def is_known(self) -> bool:
        """False for a guest who has not said who they are yet, as in a quote."""
        return bool(self.userid or self.email)

    @property
    def owner(self) -> str:
        return self.userid or f"guest {self.email.lower()}"


@dataclass(frozen=True)
class Intent:
    """A priced request, before it has an id."""

    buyer: Buyer
    name: str
    email: str
    address: Any
    content: dict[str, Any]
    provider: str
    priced: Quote
    uses: tuple[PlannedUse, ...] = ()
    hosted: bool = False
    saves_card: bool = False

    def documents(self, orderid: str, fingerprint: str) -> list[Document]:
        """The order first: it is the claim on the key."""
        date, userid, priced = timestamp(), self.buyer.userid, self.priced
        order = ORDER.build(
            order_key(orderid, "order"),
            orderid=orderid,
            userid=userid,
            basket=priced.lines,
            goods=priced.goods,
            **({"discounts": priced.discounts} if priced.discounts else {}),
            **({"uses": list(self.uses)} if self.uses else {}),
            delivery=priced.delivery,
            tax=priced.tax,
            shipping=priced.shipping,
            taxes=priced.taxes,
            total=priced.total,
            date=date,
            provider=self.provider,
            fingerprint=fingerprint,
            **({"hosted": True} if self.hosted else {}),
            **({"saves_card": True} if self.saves_card else {}),
            **ORDER_CONTENT.stored(self.content),
        )
        customer = CUSTOMER.build(
            order_key(orderid, "customer"),
            orderid=orderid,
            userid=userid,
            name=self.name,
            email=self.email,
            deliveryAddress=delivery_address(self.address),
            **({"mail_limited": True} if self.buyer.mail_limited else {}),
        )
        return [order, customer, *items_of(order)]


def price_request(deps: Dependencies, buyer: Buyer, body: dict[str, Any]) -> Intent:
    """One look-up of all products and, for a customer, one read of the user; one query for a code with a limit.

    Raises NoSuchProduct, PriceChanged, CodeUsedUp, Invalid.
    """
    payment = body["payment"]
    provider, hosted = payment["provider"], "token" not in payment
    if deps.provider(provider).hosted is None and hosted:
        raise Invalid(
            "This provider needs a token.", errors={"payment.token": ["Needed with this provider."]}
        )
    content = {name: body[name] for name in ORDER_CONTENT.writable if name in body}
    name, email, address = buyer.name, buyer.email, body.get("address")
    if buyer.userid is not None:
        user = deps.users.checkout(buyer.userid)
        name, email, address = user["name"], user["email"], address or _address_of(user, body["address_id"])
    priced = _quote(deps, buyer, body, address)
    check_expected(priced, body.get("expected_total"))
    uses = plan_uses(deps, priced, buyer.owner)
    keeps = hosted and buyer.userid is not None and bool(payment.get("save_method"))
    return Intent(buyer, name, email, address, content, provider, priced, uses, hosted, keeps)


def quote_answer(deps: Dependencies, body: dict[str, Any], buyer: Buyer) -> Doc:
    """What `body` (items, codes, currency, address, shipping) costs this buyer now.

    Raises NoSuchProduct, NotDelivered, CodeUsedUp, Invalid, Unavailable.
    """
    priced = _quote(deps, buyer, body, body.get("address"))
    check_uses(deps, priced, buyer.owner if buyer.is_known else "")
    return {
        "items": priced.lines,
        "goods": priced.goods,
        "discounts": priced.discounts,
        "deliveryCharge": priced.delivery,
        "shipping_options": priced.shipping_options,
        "shipping": priced.shipping,
        "tax": priced.taxes,
        "total": priced.total,
    }


def _quote(deps: Dependencies, buyer: Buyer, body: dict[str, Any], address: Any) -> Quote:
    """One look-up of all products; the same for the quote and the checkout."""
    keys = [item["productid"] for item in merged(body["items"])]
    products = deps.products.lookup(keys, currency=body.get("currency"), group=buyer.group)
    terms, moment = deps.terms, timestamp()
    request = QuoteRequest(
        body["items"],
        moment[:10],
        destination_of(address, terms.country),
        body.get("shipping", ""),
        shopper(deps, terms.promotions, buyer.userid, buyer.group, body.get("codes", []), moment),
    )
    return quote(request, products, terms)


def _address_of(user: Doc, address_id: str) -> Any:
    for known in user["addresses"]:
        if known["id"] == address_id:
            return saved_address(known)
    raise NoSuchAddress("Choose one of your addresses.", errors={"address_id": ["You have no such address."]})
