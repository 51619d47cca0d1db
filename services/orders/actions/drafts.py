"""Draft orders: made, changed and removed by staff, and what they would cost. Placing one is `actions.draft_placing`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from services.orders.actions.gift_cards import balance_of_code
from services.orders.actions.intents import Buyer, DeskOrder, quote_answer
from services.orders.declarations.drafts import CONTENT, ChosenGiftCard, DraftItem, DraftOrder, state_of
from services.orders.declarations.parts import AppliedDiscount, Line, line_key
from services.orders.dependencies import Dependencies
from services.orders.documents import DRAFT_ORDER, draft_key
from services.orders.rules.gift_cards import card_id
from services.orders.rules.pricing.manual import manual_prices, manual_reduction
from shared.clock import iso, now, timestamp
from shared.couch import Doc, PageOf, UpdateConflict
from shared.errors import AisleError, Conflict, Invalid, NotFound, Unavailable

EXPIRED_AT_ONCE = 500


class NoSuchDraft(NotFound):
    code, title = "no_such_draft", "There is no such draft order"


class DraftChanged(Conflict):
    code, title = "draft_changed", "Somebody else has changed this draft order"


class DraftPlaced(Conflict):
    code, title = "draft_placed", "This draft order is placed"


class DraftBeingPlaced(Conflict):
    code, title = "draft_being_placed", "This draft order is being placed"


class DiscountTooLarge(Invalid):
    code, title = "manual_discount_too_large", "More is taken off than staff may"


@dataclass(frozen=True)
class Editor:
    """Who works on a draft, and from which network."""

    actor: str
    is_admin: bool
    network: str


def get(deps: Dependencies, id: str) -> DraftOrder:
    """1 read. Raises NoSuchDraft."""
    found = deps.drafts.get(id)
    if found is None:
        raise NoSuchDraft("There is no such draft order; it may have been removed.")
    return found


def page(deps: Dependencies, limit: int, before: str | None) -> PageOf[DraftOrder]:
    """The newest first. 1 partition query."""
    return deps.drafts.page(limit, before)


def add(deps: Dependencies, id: str, content: Doc, editor: Editor) -> tuple[DraftOrder, Doc]:
    """A new draft and what it costs; where there is one with this id already, that one: a request whose answer was lost had written it.
    Raises what a quote raises, DiscountTooLarge."""
    moment = timestamp()
    draft = DRAFT_ORDER.build(
        draft_key(id),
        id=id,
        **_content(deps, content, None, editor),
        attempts=0,
        created=moment,
        created_by=editor.actor,
        edited=moment,
        edited_by=editor.actor,
        expires=_expires(deps),
    )
    priced = _checked(deps, draft, editor)
    try:
        stored = deps.drafts.put(draft)
    except UpdateConflict:
        known = get(deps, id)
        return known, answered(deps, known, editor)
    return stored, answer(stored, priced)


def change(deps: Dependencies, before: DraftOrder, content: Doc, editor: Editor) -> tuple[DraftOrder, Doc]:
    """New content over `before`. Raises DraftPlaced, DraftBeingPlaced, DraftChanged, and what a quote raises."""
    check_open(before)
    draft: DraftOrder = {
        **before,
        **_content(deps, content, before, editor),  # type: ignore[typeddict-item]  # the fields of CONTENT
        "edited": timestamp(),
        "edited_by": editor.actor,
        "expires": _expires(deps),
    }
    priced = _checked(deps, draft, editor)
    try:
        stored = deps.drafts.put(draft)
    except UpdateConflict:
        raise changed(get(deps, before["id"]), draft) from None
    return stored, answer(stored, priced)


def remove(deps: Dependencies, draft: DraftOrder) -> None:
    """Raises DraftBeingPlaced, DraftChanged."""
    if "order" not in draft:
        check_open(draft)
    try:
        deps.drafts.remove(draft)
    except UpdateConflict:
        raise changed(get(deps, draft["id"]), draft) from None


def changed(stored: DraftOrder, sent: DraftOrder | Doc) -> DraftChanged:
    """What differs between a draft as it is stored and as somebody wants it."""
    fields = [name for name in CONTENT if stored.get(name) != sent.get(name)]
    return DraftChanged(
        "Look at what they wrote, and change it again.",
        changed=fields,
        edited=stored["edited"],
        edited_by=stored["edited_by"],
        state=state_of(stored),
    )


def check_open(draft: DraftOrder) -> None:
    """Raises DraftPlaced, DraftBeingPlaced."""
    if "order" in draft:
        raise DraftPlaced("It is an order by now.", **draft["order"])
    if "placing" in draft:
        raise DraftBeingPlaced("Place it again: what has begun is brought to its end, once.")


def answered(deps: Dependencies, draft: DraftOrder, editor: Editor) -> Doc:
    """A draft with what it costs now, or why that cannot be said."""
    if not draft["items"] or "order" in draft:
        return answer(draft, {"quote": None, "problem": None})
    try:
        return answer(draft, {"quote": quoted(deps, draft, editor), "problem": None})
    except AisleError as error:
        return answer(draft, _problem(error))


def answer(draft: DraftOrder, priced: Doc) -> Doc:
    return {**summary(draft), **priced}


def summary(draft: DraftOrder) -> Doc:
    """A draft as lists show it."""
    shown = ("id", *CONTENT, "created", "created_by", "edited", "edited_by", "expires")
    found: Doc = {name: draft[name] for name in shown}  # type: ignore[literal-required]  # names of its fields
    return {**found, "state": state_of(draft), **({"order": draft["order"]} if "order" in draft else {})}


def quoted(deps: Dependencies, draft: DraftOrder, editor: Editor) -> Doc:
    """What it costs now, as a customer's quote is reckoned. Raises what that raises, DiscountTooLarge."""
    buyer = buyer_of(deps, draft, editor.network)
    found = quote_answer(deps, body_of(draft), buyer)
    check_limit(deps, draft, found["items"], found["discounts"])
    return found


def buyer_of(deps: Dependencies, draft: DraftOrder, network: str, **desk: Any) -> Buyer:
    """Whom it is for; of an account 1 read, for the prices of its customer group."""
    wanted = DeskOrder(draft=draft["id"], manual=manual_prices(draft["items"], draft["discount"]), **desk)
    if draft["userid"] is None:
        return Buyer(None, draft["email"], draft["name"], network=network, desk=wanted)
    group = deps.users.checkout(draft["userid"]).get("group", "")
    return Buyer(draft["userid"], group=group, network=network, desk=wanted)


def body_of(draft: DraftOrder) -> Doc:
    """The request that a customer would send for it, without a payment."""
    body: Doc = {
        "items": [{"productid": each["productid"], "quantity": each["quantity"]} for each in draft["items"]],
        "chosen_gift_cards": [each["id"] for each in draft["gift_cards"]],
        **{name: draft[name] for name in ("address", "shipping", "codes", "currency", "language")},
    }
    return {name: value for name, value in body.items() if value}


def remove_expired(deps: Dependencies) -> int:
    """How many drafts nobody changed for too long. 1 global query, and 1 write where there are any."""
    found = deps.drafts.expired(timestamp(), limit=EXPIRED_AT_ONCE)
    if found:
        deps.drafts.remove_all(found)
    return len(found)


def _content(deps: Dependencies, content: Doc, before: DraftOrder | None, editor: Editor) -> Doc:
    items = _items(content["items"])
    same = before is not None and (before["items"], before["discount"]) == (items, content["discount"])
    return {
        **{name: content[name] for name in CONTENT if name in content},
        "email": content.get("email", ""),
        "items": items,
        "gift_cards": _gift_cards(deps, content["gift_cards"], before, editor),
        "any_discount": editor.is_admin or (same and before is not None and before["any_discount"]),
    }


def _items(sent: list[Doc]) -> list[DraftItem]:
    keys = [line_key(_named(each)) for each in sent]
    twice = {
        f"items.{index}.productid": [f"{key} comes twice."]
        for index, key in enumerate(keys)
        if key in keys[:index]
    }
    if twice:
        raise Invalid("Name each product once, with its quantity.", errors=twice)
    return [_item(key, each) for key, each in zip(keys, sent, strict=True)]


def _item(key: str, sent: Doc) -> DraftItem:
    item: DraftItem = {"productid": key, "quantity": sent["quantity"]}
    if "price" in sent:
        item |= {"price": sent["price"], "reason": sent["reason"]}
    if "discount" in sent:
        item["discount"] = sent["discount"]
    return item


def _named(item: Doc) -> Doc:
    return item if "productid" in item else {**item, "productid": item["sku"]}


def _gift_cards(
    deps: Dependencies, sent: list[str], before: DraftOrder | None, editor: Editor
) -> list[ChosenGiftCard]:
    """Those that the draft has are named by their ids, others by their codes: 1 partition query each. Raises GiftCardNotValid."""
    known = {card["id"]: card for card in before["gift_cards"]} if before else {}
    found: dict[str, ChosenGiftCard] = {}
    for each in sent:
        id = each if each in known else card_id(each)
        name = known[id]["name"] if id in known else balance_of_code(deps, each, editor.network).name
        found[id] = {"id": id, "name": name}
    return list(found.values())


def _checked(deps: Dependencies, draft: DraftOrder, editor: Editor) -> Doc:
    """What it costs; while that cannot be said because somebody is away, it can be saved all the same."""
    if not draft["items"]:
        return {"quote": None, "problem": None}
    try:
        return {"quote": quoted(deps, draft, editor), "problem": None}
    except Unavailable as error:
        return _problem(error)


def _problem(error: AisleError) -> Doc:
    return {"quote": None, "problem": {"code": error.code, "detail": error.detail}}


def check_limit(
    deps: Dependencies, draft: DraftOrder, lines: Sequence[Line], discounts: Sequence[AppliedDiscount]
) -> None:
    """Raises DiscountTooLarge where more is taken off than staff may, and no admin has said so."""
    taken, regular = manual_reduction(lines, discounts)
    percent = deps.settings.manual_discount_percent
    if not draft["any_discount"] and taken * 100 > percent * regular:
        raise DiscountTooLarge(
            f"Staff may take off {percent} percent of the goods at most; an admin may take off more.",
            percent=percent,
        )


def _expires(deps: Dependencies) -> str:
    return iso(now() + timedelta(days=deps.settings.draft_days))
