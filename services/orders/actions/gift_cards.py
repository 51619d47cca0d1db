"""Gift cards and store credit: issued, looked up, corrected, and chosen to pay an order with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from redis.exceptions import RedisError

from services.orders.actions import credits
from services.orders.actions.emails import greeting
from services.orders.declarations.credits import (
    ADJUSTED,
    GIFT_CARD,
    GRANTED,
    ISSUED,
    STORE_CREDIT,
    CreditEntry,
    CreditPayment,
)
from services.orders.dependencies import Dependencies
from services.orders.rules.credits import (
    STORE_CREDIT_NAME,
    Chain,
    Change,
    CreditKey,
    entry_answer,
    split,
)
from services.orders.rules.gift_cards import card_id, card_name, is_well_formed, last_day, normalized
from shared.clock import timestamp
from shared.couch import Doc, Page
from shared.errors import Forbidden, Invalid, NotFound, Unavailable
from shared.idempotency import check_same
from shared.limits import Limit, network_of
from shared.mail import Email
from shared.money import Money, money
from shared.money_text import localized
from shared.translation import gettext, language_active

LIMIT_SECONDS = 600


class GiftCardNotValid(Invalid):
    code, title = "gift_card_not_valid", "This gift card cannot be used"


class NoSuchGiftCard(NotFound):
    code, title = "no_such_gift_card", "There is no such gift card"


class _Unknown(Forbidden):
    """A code that is none: counted as a guess."""


@dataclass(frozen=True)
class Balance:
    """What a gift card or store credit holds; of one that is to be spent at once with its chain."""

    key: CreditKey
    name: str
    expires: str
    amount: int
    chain: Chain | None = None

    @property
    def is_over(self) -> bool:
        return bool(self.expires) and self.expires < timestamp()[:10]

    def answer(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "balance": money(self.amount, self.key.currency),
            "expires": self.expires or None,
        }


def issue(deps: Dependencies, code: str, value: Money, by: str, note: str, reference: str) -> Chain:
    """A card of this code, once: who issues it again meets it as it is. 1 partition query and 1 write.

    Raises KeyReused where another `reference` (what was asked for) has issued it.
    """
    issued = timestamp()
    about = {
        "currency": value["currency"],
        "name": card_name(code),
        "issued": issued,
        "expires": last_day(datetime.now(UTC).date(), deps.terms.gift_card_days),
    }
    change = Change(value["amount"], ISSUED, reference, by, note)
    chain = credits.append(
        deps,
        CreditKey(GIFT_CARD, card_id(code), value["currency"]),
        lambda chain: None if chain.slots else change,
        about=about,
    )
    check_same(chain.entries[0]["reference"], reference)
    return chain


def send_code(deps: Dependencies, code: str, chain: Chain, recipient: Mapping[str, Any]) -> None:
    """The code to its recipient, where there is an address, in their `language`, else the shop's own. Raises Unavailable."""
    if not recipient.get("email"):
        return
    with language_active(deps.language(recipient.get("language", ""))):
        email = _code_email(deps, code, chain.entries[0], recipient)
    deps.mailer.send(email)


def _code_email(deps: Dependencies, code: str, first: CreditEntry, recipient: Mapping[str, Any]) -> Email:
    """In the active language."""
    value, message = localized(money(first["delta"], first["currency"])), recipient.get("message")
    text = [
        greeting(recipient.get("name")),
        gettext("here is a gift card of %(value)s for you.", value=value),
    ]
    closing = [gettext("Type the code at checkout; what is left of it stays on the card.")]
    if first["expires"]:
        closing.append(gettext("It can be used until %(day)s.", day=first["expires"]))
    return deps.email(
        recipient["email"],
        gettext("A gift card of %(value)s", value=value),
        "\n\n".join([*text, *([message] if message else [])]),
        rows=[(gettext("Its code: %(code)s", code=code), value)],
        closing="\n".join(closing),
        page="",
        label=gettext("To the shop"),
        key=f"gift-card.{first['id']}",
    )


def balance_of_code(deps: Dependencies, code: str, network: str) -> Balance:
    """1 partition query. Raises GiftCardNotValid, TooManyRequests."""
    (found,) = _looked_up(deps, [code], network, chains=False)
    return found


def gift_card(deps: Dependencies, id: str) -> dict[str, Any]:
    """A card with all that happened to it. 1 partition query; of one that this does not find 1 read and more. Raises NoSuchGiftCard."""
    return card_answer(_chain(deps, id))


def card_answer(chain: Chain) -> dict[str, Any]:
    first = chain.entries[0]
    return {
        "id": first["id"],
        "name": first["name"],
        "value": money(first["delta"], first["currency"]),
        "balance": money(chain.balance, first["currency"]),
        "issued": first["issued"],
        "expires": first["expires"] or None,
        "entries": [entry_answer(entry) for entry in chain.entries],
    }


def list_gift_cards(deps: Dependencies, limit: int, after: list[str] | None) -> Page:
    """Newest first. 1 global query."""
    page = deps.credits.gift_cards(limit=limit, after=after)
    return Page([_listed(row) for row in page.items], page.next)


def _listed(row: Doc) -> dict[str, Any]:
    issued, id, currency, name, expires = row["key"]
    return {
        "id": id,
        "name": name,
        "balance": money(row["value"], currency),
        "issued": issued,
        "expires": expires or None,
    }


def correct(deps: Dependencies, id: str, balance: int, note: str, by: str, reference: str) -> dict[str, Any]:
    """A card's balance as staff sets it, by an entry that says who and why. Raises NoSuchGiftCard."""
    key = _chain(deps, id).key

    def change(chain: Chain) -> Change | None:
        if chain.found(reference, ADJUSTED) or chain.balance == balance:
            return None
        return Change(balance - chain.balance, ADJUSTED, reference, by, note)

    return card_answer(credits.append(deps, key, change))


def grant(deps: Dependencies, userid: str, amount: Money, reason: str, by: str, reference: str) -> None:
    """Store credit given to a customer, once for its reference."""
    key = CreditKey(STORE_CREDIT, userid, amount["currency"])
    credits.add(deps, key, Change(amount["amount"], GRANTED, reference, by, reason))


def store_credit(deps: Dependencies, userid: str) -> list[dict[str, Any]]:
    """What a customer has, by currency. 1 partition query."""
    return [balance.answer() for balance in _balances(deps, STORE_CREDIT, userid)]


def store_credit_history(deps: Dependencies, userid: str) -> dict[str, Any]:
    """The same with all that happened to it, oldest first. 1 partition query more for each currency."""
    items = []
    for balance in _balances(deps, STORE_CREDIT, userid):
        entries = [entry_answer(entry) for entry in deps.credits.chain(balance.key).entries]
        items.append({**balance.answer(), "entries": entries})
    return {"items": items, "next": None}


def chosen(
    deps: Dependencies,
    body: dict[str, Any],
    userid: str | None,
    network: str,
    payable: Money,
    *,
    chains: bool,
) -> tuple[list[CreditPayment], dict[str, Chain]]:
    """What the gift cards and the store credit of a request pay of `payable`, and their chains by id where they are to be spent.
    `chosen_gift_cards` of a draft are ids.

    1 partition query for each. Raises GiftCardNotValid, Invalid, TooManyRequests.
    """
    codes = list({normalized(code): code for code in body.get("gift_cards", [])}.values())
    found = [_card_of_id(deps, id, chains=chains) for id in body.get("chosen_gift_cards", [])]
    found += _looked_up(deps, codes, network, chains=chains) if codes else []
    for balance in found:
        _check_good(balance, payable["currency"])
    if body.get("store_credit"):
        found += _store_credit_of(deps, userid, payable["currency"], chains=chains)
    parts = split(payable["amount"], [balance.amount for balance in found])
    paid = [
        _payment(balance, money(part, payable["currency"]))
        for balance, part in zip(found, parts, strict=True)
        if part
    ]
    return paid, {balance.key.id: balance.chain for balance in found if balance.chain is not None}


def _payment(balance: Balance, amount: Money) -> CreditPayment:
    found: CreditPayment = {
        "kind": balance.key.kind,
        "id": balance.key.id,
        "name": balance.name,
        "amount": amount,
    }
    if balance.expires:
        found["expires"] = balance.expires
    return found


def _store_credit_of(deps: Dependencies, userid: str | None, currency: str, *, chains: bool) -> list[Balance]:
    if userid is None:
        raise Invalid(
            "Log in to pay with store credit.", errors={"store_credit": ["Log in to pay with store credit."]}
        )
    if not chains:
        return [each for each in _balances(deps, STORE_CREDIT, userid) if each.key.currency == currency]
    chain = deps.credits.chain(CreditKey(STORE_CREDIT, userid, currency))
    return [Balance(chain.key, STORE_CREDIT_NAME, "", chain.balance, chain)] if chain.slots else []


def _check_good(balance: Balance, currency: str) -> None:
    if balance.is_over:
        problem = f"{balance.name} could be used until {balance.expires}."
    elif balance.key.currency != currency:
        problem = f"{balance.name} is in {balance.key.currency}, and this order in {currency}."
    elif balance.amount <= 0:
        problem = f"Nothing is left on {balance.name[0].lower()}{balance.name[1:]}."
    else:
        return
    raise GiftCardNotValid(problem, errors={"gift_cards": [problem]})


def _looked_up(deps: Dependencies, codes: Sequence[str], network: str, *, chains: bool) -> list[Balance]:
    """The cards of these codes. Who guesses is stopped: so many codes that are none from one network, and no more are looked up."""
    limit = Limit("gift card", network_of(network), deps.settings.gift_card_tries, LIMIT_SECONDS)
    try:
        with deps.limits.attempt(limit):
            return [_card(deps, code, chains=chains) for code in codes]
    except _Unknown:
        problem = "There is no gift card with this code. Look at it again, please."
        raise GiftCardNotValid(problem, errors={"gift_cards": [problem]}) from None
    except RedisError as error:
        raise Unavailable("Gift cards cannot be looked up just now.", retry_after=5) from error


def _card(deps: Dependencies, code: str, *, chains: bool) -> Balance:
    if not is_well_formed(normalized(code)):
        raise _Unknown
    return _card_of_id(deps, card_id(code), chains=chains)


def _card_of_id(deps: Dependencies, id: str, *, chains: bool) -> Balance:
    if not chains:
        rows = _balances(deps, GIFT_CARD, id)
        if not rows:
            raise _Unknown
        return rows[0]
    key = CreditKey(GIFT_CARD, id)
    chain = deps.credits.chain(key)
    if not chain.slots:
        raise _Unknown
    first = chain.entries[0]
    key = CreditKey(GIFT_CARD, id, first["currency"])
    return Balance(key, first["name"], first["expires"], chain.balance, Chain(key, chain.slots))


def _balances(deps: Dependencies, kind: str, id: str) -> list[Balance]:
    rows = deps.credits.balances(kind, id)
    return [
        Balance(CreditKey(kind, id, currency), name, expires, row["value"])
        for row in rows
        for currency, name, expires in [(row["key"][2], row["key"][3], row["key"][5])]
    ]


def _chain(deps: Dependencies, id: str) -> Chain:
    key = CreditKey(GIFT_CARD, id)
    chain = deps.credits.chain(key)
    if not chain.slots:
        raise NoSuchGiftCard("There is no such gift card.")
    return Chain(CreditKey(GIFT_CARD, id, chain.currency), chain.slots)
