"""A request to order, priced: what the first bulk of a checkout writes."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from services.orders.actions import gift_cards
from services.orders.actions.carrier_rates import carrier_rates
from services.orders.actions.planned_uses import PlannedUses, check_uses, plan_uses, shopper
from services.orders.actions.promotions import with_typed_codes
from services.orders.actions.taxes import tax_step
from services.orders.declarations.credits import CreditPayment
from services.orders.declarations.order import ORDER_CONTENT
from services.orders.declarations.promotions import PlannedUse
from services.orders.dependencies import Dependencies
from services.orders.documents import CUSTOMER, ORDER, order_key
from services.orders.rules.addresses import delivery_address, destination_of, saved_address
from services.orders.rules.credits import NO_PROVIDER, Chain, paid_by_credits
from services.orders.rules.manual_payments import MANUAL_PAYMENTS
from services.orders.rules.pricing import PriceChanged, Quote, QuoteRequest, check_expected, merged, quote
from services.orders.rules.pricing.manual import NOTHING_MANUAL, ManualPrices
from services.orders.rules.writing import costs_of, items_of, value_of_gift_cards
from shared.clock import timestamp
from shared.couch import Doc, Document
from shared.errors import Invalid
from shared.money import Money, money, shown


class NoSuchAddress(Invalid):
    code, title = "unknown_address", "You have no such address"


@dataclass(frozen=True)
class DeskOrder:
    """What staff say of an order that they place for a customer: who, from which draft, at which prices, and how it is paid.

    `check` raises for what may not be placed so, once it is priced.
    """

    placed_by: str = ""
    draft: str = ""
    manual: ManualPrices = NOTHING_MANUAL
    payment_link: bool = False
    check: Callable[[Quote], None] = lambda priced: None


@dataclass(frozen=True)
class Buyer:
    """A customer by user id, or a guest by e-mail address; `network` is where the request comes from. `desk`: staff order for them."""

    userid: str | None
    email: str = ""
    name: str = ""
    mail_limited: bool = False
    group: str = ""
    network: str = ""
    desk: DeskOrder | None = None

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
    credits: list[CreditPayment] = field(default_factory=list)
    chains: dict[str, Chain] = field(default_factory=dict)
    gift_recipient: dict[str, str] = field(default_factory=dict)
    payment_reference: str = ""

    def documents(self, orderid: str, fingerprint: str, number: str) -> list[Document]:
        """The order first: it is the claim on the key."""
        date, userid, priced = timestamp(), self.buyer.userid, self.priced
        order = ORDER.build(
            order_key(orderid, "order"),
            orderid=orderid,
            number=number,
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
            **({"credits": self.credits} if self.credits else {}),
            **({"hosted": True} if self.hosted else {}),
            **({"saves_card": True} if self.saves_card else {}),
            **self._by_staff(),
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
            **({"gift_recipient": self.gift_recipient} if self.gift_recipient else {}),
        )
        return [order, customer, *items_of(order), *costs_of(orderid, priced.costs)]

    def _by_staff(self) -> dict[str, Any]:
        """What the order says of staff who placed it."""
        desk = self.buyer.desk
        if desk is None:
            return {}
        found = {
            "placed_by": desk.placed_by,
            "draft": desk.draft,
            "payment_reference": self.payment_reference,
        }
        return {name: value for name, value in found.items() if value} | (
            {"payment_link": True} if desk.payment_link and self.hosted else {}
        )


def price_request(deps: Dependencies, buyer: Buyer, body: dict[str, Any]) -> Intent:
    """One look-up of all products and, for a customer, one read of the user; one query for a code with a limit, and for a gift card.

    Raises NoSuchProduct, PriceChanged, CodeUsedUp, GiftCardNotValid, Invalid.
    """
    content = {name: body[name] for name in ORDER_CONTENT.writable if name in body}
    name, email, address = buyer.name, buyer.email, body.get("address")
    if buyer.userid is not None:
        user = deps.users.checkout(buyer.userid, "" if address else body["address_id"])
        name, email, address = user["name"], user["email"], address or _address_of(user, body["address_id"])
    priced, uses = _quote(deps, buyer, body, address, lambda found: plan_uses(deps, found, email))
    check_expected(priced, body.get("expected_total"))
    if buyer.desk is not None:
        buyer.desk.check(priced)
    credits, chains = _credits(deps, body, buyer, priced, chains=True)
    to_pay = _to_pay(priced, credits)
    _check_to_pay(to_pay, body.get("expected_to_pay"))
    payment = body["payment"] if to_pay["amount"] else {"provider": NO_PROVIDER, "token": ""}
    provider, hosted = payment["provider"], not payment.keys() & {"token", "saved_method"}
    by_staff = buyer.desk is not None and provider in MANUAL_PAYMENTS
    if provider != NO_PROVIDER and not by_staff and deps.provider(provider).hosted is None and hosted:
        raise Invalid(
            "This provider needs a token.", errors={"payment.token": ["Needed with this provider."]}
        )
    keeps = hosted and buyer.userid is not None and bool(payment.get("save_method"))
    return Intent(
        buyer,
        name,
        email,
        address,
        content,
        provider,
        priced,
        uses,
        hosted,
        keeps,
        credits,
        chains,
        gift_recipient=body.get("gift_recipient", {}) if value_of_gift_cards(priced.lines) else {},
        payment_reference=payment["token"] if by_staff else "",
    )


def quote_answer(deps: Dependencies, body: dict[str, Any], buyer: Buyer) -> Doc:
    """What `body` (items, codes, gift cards, currency, address, shipping) costs this buyer now.

    Raises NoSuchProduct, NotDelivered, CodeUsedUp, GiftCardNotValid, Invalid, CarrierUnavailable, TaxUnavailable, Unavailable.
    """
    priced, _ = _quote(
        deps,
        buyer,
        body,
        body.get("address"),
        lambda found: check_uses(deps, found, lambda: _email(deps, buyer)),
    )
    credits, _ = _credits(deps, body, buyer, priced, chains=False)
    return {
        "items": priced.lines,
        "goods": priced.goods,
        "discounts": priced.discounts,
        "deliveryCharge": priced.delivery,
        "shipping_options": priced.shipping_options,
        **({"unpriced_shipping": priced.unpriced_shipping} if priced.unpriced_shipping else {}),
        "shipping": priced.shipping,
        "tax": priced.taxes,
        "total": priced.total,
        "credits": credits,
        "to_pay": _to_pay(priced, credits),
    }


def _credits(
    deps: Dependencies, body: dict[str, Any], buyer: Buyer, priced: Quote, *, chains: bool
) -> tuple[list[CreditPayment], dict[str, Chain]]:
    if not any(body.get(name) for name in ("gift_cards", "chosen_gift_cards", "store_credit")):
        return [], {}
    total = priced.total
    payable = money(total["amount"] - value_of_gift_cards(priced.lines), total["currency"])
    return gift_cards.chosen(deps, body, buyer.userid, buyer.network, payable, chains=chains)


def _to_pay(priced: Quote, credits: list[CreditPayment]) -> Money:
    return money(priced.total["amount"] - paid_by_credits(credits), priced.total["currency"])


def _check_to_pay(to_pay: Money, expected: Money | None) -> None:
    """Raises PriceChanged unless the customer saw how much is left to pay."""
    if expected is not None and expected != to_pay:
        raise PriceChanged(
            f"A balance has changed: {shown(to_pay)} are left to pay now, not {shown(expected)}; show it and order again.",
            to_pay=to_pay,
            expected_to_pay=expected,
        )


def _quote(
    deps: Dependencies,
    buyer: Buyer,
    body: dict[str, Any],
    address: Any,
    uses_of: Callable[[Quote], PlannedUses],
) -> tuple[Quote, tuple[PlannedUse, ...]]:
    """One look-up of all products; the same for the quote and the checkout. Without what applies by itself and is used up.

    Rate and tax providers are asked where the shop has them.
    """
    keys = [item["productid"] for item in merged(body["items"])]
    products = deps.products.lookup(
        keys, currency=body.get("currency"), group=buyer.group, language=body.get("language", ""), costs=True
    )
    terms, moment = deps.terms, timestamp()
    terms = with_typed_codes(deps, terms, body.get("codes", []))
    who = shopper(deps, terms.promotions, buyer.userid, buyer.group, body.get("codes", []), moment)
    request = QuoteRequest(
        body["items"],
        moment[:10],
        destination_of(address, terms.country),
        body.get("shipping", ""),
        manual=buyer.desk.manual if buyer.desk else NOTHING_MANUAL,
    )
    rates = carrier_rates(deps, request, products, terms)
    while True:
        found = quote(replace(request, shopper=who), products, terms, rates, tax_step(deps))
        planned = uses_of(found)
        if not planned.used_up:
            return found, planned.uses
        who = replace(who, used_up=who.used_up | planned.used_up)


def _email(deps: Dependencies, buyer: Buyer) -> str:
    """Of who asks for a quote: 1 read of the user; "" of a guest who has not said it yet."""
    return str(deps.users.checkout(buyer.userid)["email"]) if buyer.userid else buyer.email


def _address_of(user: Doc, address_id: str) -> Any:
    for known in user["addresses"]:
        if known["id"] == address_id:
            return saved_address(known)
    raise NoSuchAddress("Choose one of your addresses.", errors={"address_id": ["You have no such address."]})
