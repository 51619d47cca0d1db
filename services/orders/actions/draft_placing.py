"""A draft becomes an order, by the checkout that customers go through: pressed twice, by one or by two people, it is one order.

1. The draft says how it is placed, `placing`, and from then on does not change: whoever goes on with it asks for the same order.
2. The checkout runs under a key that is made of the draft's id and the number of the attempt, so that the order is its own claim.
3. The draft names its order. An attempt that came to nothing (sold out, another price) leaves the draft open again.

What dies in between is gone on with by whoever places the draft again.
"""

from functools import partial
from typing import Any

from services.orders.actions.attempts import AttemptClosed, Placed
from services.orders.actions.checkout import place_order, refusal_of
from services.orders.actions.drafts import (
    DraftBeingPlaced,
    DraftPlaced,
    Editor,
    body_of,
    buyer_of,
    check_limit,
    get,
)
from services.orders.actions.notes import add_note
from services.orders.declarations.drafts import DraftOrder, Placement
from services.orders.declarations.parts import EMAIL_SHIPPING
from services.orders.dependencies import Dependencies
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.identity import key_is_free_again, orderid_for
from services.orders.rules.manual_payments import MANUAL_PAYMENTS
from services.orders.rules.pricing import Quote
from shared.clock import now, timestamp
from shared.couch import UpdateConflict
from shared.errors import AisleError, Invalid, Unavailable
from shared.money import Money

MAX_ATTEMPTS = 5


def place_draft(
    deps: Dependencies, id: str, payment: dict[str, str], expected: Money | None, editor: Editor
) -> Placed:
    """The order of a draft. `payment` {kind, reference, provider}; `expected`: the total that was shown.

    Raises what a checkout raises, Invalid for a draft that lacks something, DraftPlaced where it was placed with another payment.
    """
    payment = _payment(deps, payment)
    for _ in range(MAX_ATTEMPTS):
        draft = get(deps, id)
        if "order" in draft:
            return _known(draft, payment, deps.orders.order(draft["order"]["orderid"]))
        if "placing" in draft:
            return _resumed(deps, draft, payment, editor)
        begun = _begin(deps, draft, payment, expected, editor)
        if begun is not None:
            return _run(deps, begun, editor)
    raise DraftBeingPlaced("Others are changing this draft just now; try again.")


def _payment(deps: Dependencies, payment: dict[str, str]) -> dict[str, str]:
    """With the provider of a link. Raises Invalid where none has a payment page."""
    if payment["kind"] in MANUAL_PAYMENTS:
        return {"kind": payment["kind"], "reference": payment["reference"]}
    pages = [name for name, provider in deps.providers.items() if provider.hosted is not None]
    wanted = payment["provider"] or next(iter(pages), "")
    if wanted not in pages:
        raise Invalid(
            "No payment page can be sent.",
            errors={"payment.provider": [f"Providers with a payment page: {', '.join(pages) or 'none'}."]},
        )
    return {"kind": payment["kind"], "provider": wanted}


def _begin(
    deps: Dependencies, draft: DraftOrder, payment: dict[str, str], expected: Money | None, editor: Editor
) -> DraftOrder | None:
    """The draft as it is placed; None where somebody else was quicker to change it. Raises Invalid."""
    if not draft["items"]:
        raise Invalid("There is nothing in this draft.", errors={"items": ["Add a product."]})
    if payment["kind"] not in MANUAL_PAYMENTS and not (draft["userid"] or draft["email"]):
        raise Invalid("Nobody can be written to.", errors={"email": ["Needed for a payment link."]})
    placing: Placement = {
        "payment": payment,
        "by": editor.actor,
        "date": timestamp(),
        "attempt": draft["attempts"],
        "expected_total": expected,
    }
    try:
        return deps.drafts.put({**draft, "placing": placing})
    except UpdateConflict:
        return None


def _check(deps: Dependencies, draft: DraftOrder, priced: Quote) -> None:
    """Raises DiscountTooLarge; Invalid for goods that go nowhere."""
    check_limit(deps, draft, priced.lines, priced.discounts)
    shipping = priced.shipping
    if not draft["address"] and shipping["id"] != EMAIL_SHIPPING and "collect_from" not in shipping:
        raise Invalid("Say where it goes.", errors={"address": ["Needed, unless it is collected."]})


def _resumed(deps: Dependencies, draft: DraftOrder, payment: dict[str, str], editor: Editor) -> Placed:
    """Somebody has begun to place it: what they began is brought to its end."""
    placed = _run(deps, draft, editor, again=True)
    return _known(draft, payment, placed.found)


def _known(draft: DraftOrder, payment: dict[str, str], found: OrderDocuments) -> Placed:
    """The order that it has become. Raises DraftPlaced where that was placed to be paid in another way."""
    if "placing" in draft and draft["placing"]["payment"] != payment:
        raise DraftPlaced(
            "Somebody else has placed it, to be paid in another way.",
            orderid=found.order["orderid"],
            number=found.order.get("number"),
        )
    return Placed(found, replayed=True)


def _run(deps: Dependencies, draft: DraftOrder, editor: Editor, *, again: bool = False) -> Placed:
    placing = draft["placing"]
    buyer = buyer_of(
        deps,
        draft,
        editor.network,
        placed_by=placing["by"],
        payment_link=placing["payment"]["kind"] not in MANUAL_PAYMENTS,
        check=partial(_check, deps, draft),
    )
    key = f"draft {draft['id']} {placing['attempt']}"
    orderid = orderid_for(buyer.owner, key)
    if again and (found := deps.orders.order(orderid)).exists and _is_decided(found):
        return _ended(deps, draft, found, None)
    try:
        placed = place_order(deps, buyer, key, _body(draft, placing))
    except Unavailable:
        raise
    except AisleError as refusal:
        return _ended(deps, draft, deps.orders.order(orderid), refusal)
    _finish(deps, draft, placed.found)
    return placed


def _body(draft: DraftOrder, placing: Placement) -> dict[str, Any]:
    payment = placing["payment"]
    asked = (
        {"provider": payment["kind"], "token": payment["reference"]}
        if payment["kind"] in MANUAL_PAYMENTS
        else {"provider": payment["provider"]}
    )
    return {
        "address": None,
        **body_of(draft),
        "payment": asked,
        **({"expected_total": placing["expected_total"]} if placing["expected_total"] else {}),
        "draft": draft["id"],
    }


def _is_decided(found: OrderDocuments) -> bool:
    """Whether an attempt has ended, or waits for its payment. Raises Unavailable for one that is too old to go on with, and open."""
    if not found.is_open or found.session is not None:
        return True
    if key_is_free_again(found.order["date"], now()):
        raise Unavailable("The worker has not ended this attempt yet; try again.", retry_after=10)
    return False


def _ended(
    deps: Dependencies, draft: DraftOrder, found: OrderDocuments, refusal: AisleError | None
) -> Placed:
    """What came of an attempt: the order, or the draft open again. Raises `refusal`, or why the order was cancelled."""
    if found.exists and found.cancellation is None:
        _finish(deps, draft, found)
        return Placed(found, replayed=True)
    _reopen(deps, draft, failed=found.exists)
    if refusal is not None:
        raise refusal
    raise refusal_of(found) if found.exists else AttemptClosed()


def _finish(deps: Dependencies, draft: DraftOrder, found: OrderDocuments) -> None:
    """The draft names its order; the order gets the draft's note."""
    order = found.order
    if draft["note"]:
        add_note(deps, found, draft["note"], draft["placing"]["by"], f"draft-{draft['id']}")
    current: DraftOrder | None = draft
    for _ in range(MAX_ATTEMPTS):
        if current is None or "order" in current:
            return
        placed: DraftOrder = {
            **current,
            "placing": draft["placing"],
            "order": {"orderid": order["orderid"], "number": order.get("number")},
        }
        try:
            deps.drafts.put(placed)
        except UpdateConflict:
            current = deps.drafts.get(draft["id"])
        else:
            return


def _reopen(deps: Dependencies, draft: DraftOrder, *, failed: bool) -> None:
    """It can be changed again. An attempt that has left an order (`failed`) is not gone on with: the next one has another number. One
    that has left none keeps its number, so that whoever is still at it makes the order that the next one meets."""
    left: DraftOrder = {name: value for name, value in draft.items() if name != "placing"}  # type: ignore[assignment]  # without one field
    left["attempts"] = draft["placing"]["attempt"] + (1 if failed else 0)
    try:
        deps.drafts.put(left)
    except UpdateConflict:
        return
