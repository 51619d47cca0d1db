"""Parcels: what goes out in each, decided by one document so that nothing goes out twice, and when each arrived."""

from typing import Any

from services.orders.actions.backorders import GoodsWaiting, check_stock
from services.orders.actions.captures import capture_for_parcel
from services.orders.actions.refunds import MAX_ATTEMPTS, OrderBusy
from services.orders.declarations.parts import SoldLine
from services.orders.dependencies import Dependencies
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.parcels import Parcel, chosen_lines, is_everything
from services.orders.rules.pricing import merged
from services.orders.rules.progress import NotPossible, require
from services.orders.rules.returns import quantities_by_key
from services.orders.rules.writing import decision_of, delivery_of, dispatch_of
from shared.errors import Conflict, NotFound

Items = list[dict[str, Any]] | None


class NoSuchParcel(NotFound):
    code, title = "no_such_parcel", "There is no such parcel"


class SeveralParcels(Conflict):
    code, title = "several_parcels", "Several parcels are on their way: say which one has arrived"


def dispatch_order(
    deps: Dependencies,
    found: OrderDocuments,
    courier: str,
    courierid: str,
    actor: str,
    date: str = "",
    *,
    items: Items = None,
    tracking_url: str = "",
) -> OrderDocuments:
    """Hands `items` to the courier, or all that is left to send; its share of money that was only reserved is taken before. The same parcel twice is one.

    Raises NotPossible when the order is cancelled, not paid, or when nothing is left to send, Invalid for more than is left, PaymentClosed
    when the bank does not hold the money any more.
    """
    for _ in range(MAX_ATTEMPTS):
        found = complete_parcels(deps, found)
        if known := next((each for each in found.parcels if each.is_sent_as(courier, courierid)), None):
            return _same_parcel(found, known, items)
        require(found.progress, "dispatch")
        if found.is_being_cancelled:
            raise NotPossible("The order is being cancelled.", order_status="paid")
        if found.unwritten_parcels:
            return _completed_as(deps, capture_for_parcel(deps, found), courier, courierid, date)
        found = check_stock(deps, found)
        lines, number = _lines_to_send(found, items), found.next_decision
        found = capture_for_parcel(deps, found, lines)
        decision = decision_of(
            found.order,
            "dispatch",
            f"{courier} {courierid}",
            actor,
            number=number,
            date=date,
            courier=courier,
            courierid=courierid,
            **({"tracking_url": tracking_url} if tracking_url else {}),
            **({"lines": lines} if lines is not None else {}),
        )
        stored, created = deps.orders.add(decision)
        if created:
            return complete_parcels(deps, found.with_document(stored))
        found = deps.orders.order(found.order["orderid"])
    raise OrderBusy


def complete_parcels(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """The parcels that were decided on and are not written yet, as their decisions say."""
    for number, decision in found.unwritten_parcels.items():
        if "courier" not in decision:
            continue
        dispatch = dispatch_of(
            found.order,
            found.require_payment(),
            decision["courier"],
            decision["courierid"],
            decision["date"],
            number=number,
            tracking_url=decision.get("tracking_url", ""),
            lines=decision.get("lines"),
        )
        found = found.with_document(deps.orders.add(dispatch)[0])
    return found


def deliver_order(
    deps: Dependencies, found: OrderDocuments, date: str = "", number: int | str | None = None
) -> OrderDocuments:
    """A parcel arrived: the one of this `number`, or the only one that is on its way; a second time changes nothing.

    Raises NotPossible when nothing ever went out, NoSuchParcel, SeveralParcels.
    """
    parcel = _arriving(found, number)
    if parcel is None:
        return found
    delivery, _ = deps.orders.add(delivery_of(found.order, parcel.dispatch, date, number=parcel.number))
    return found.with_document(delivery)


def _completed_as(
    deps: Dependencies, found: OrderDocuments, courier: str, courierid: str, date: str
) -> OrderDocuments:
    """A decision of an older version does not say which parcel it was: who repeats it does. Raises NotPossible when another was quicker."""
    dispatch, _ = deps.orders.add(dispatch_of(found.order, found.require_payment(), courier, courierid, date))
    if (dispatch["courier"], dispatch["courierid"]) != (courier, courierid):
        raise NotPossible(
            f"The order went out with {dispatch['courier']} already.", order_status="dispatched"
        )
    return found.with_document(dispatch)


def _arriving(found: OrderDocuments, number: int | str | None) -> Parcel | None:
    """None when it is here already."""
    parcels = found.parcels
    if number is not None:
        named = next((each for each in parcels if str(each.number) == str(number)), None)
        if named is None:
            raise NoSuchParcel(f"This order has no parcel {number}.")
        return named if named.delivery is None else None
    waiting = [each for each in parcels if each.delivery is None]
    if parcels and not waiting:
        return None
    require(found.progress, "deliver")
    if len(waiting) > 1:
        raise SeveralParcels(f"Parcels {', '.join(str(each.number) for each in waiting)} are on their way.")
    return waiting[0]


def _same_parcel(found: OrderDocuments, parcel: Parcel, items: Items) -> OrderDocuments:
    """Raises NotPossible where it went out with other goods."""
    if items is not None:
        everything = quantities_by_key(parcel.lines)
        wanted = chosen_lines(found.order["basket"], everything, items, "in this parcel")
        if not is_everything(everything, wanted):
            raise NotPossible(
                f"Parcel {parcel.dispatch['courierid']} went out with other goods.", order_status=found.status
            )
    return found


def _those_here(found: OrderDocuments, items: Items) -> list[dict[str, Any]]:
    """What is asked for, or all that is here. Raises GoodsWaiting where that is nothing, or less than is asked for."""
    ready, waiting = found.ready_to_send, found.waiting
    if items is None and ready:
        return [{"productid": key, "quantity": quantity} for key, quantity in ready.items()]
    wanted = merged(items) if items is not None else []
    short = [each["productid"] for each in wanted if each["quantity"] > ready.get(each["productid"], 0)]
    names = ", ".join(f"{waiting[key]} of {key}" for key in (short or waiting) if key in waiting)
    if names:
        raise GoodsWaiting(f"These goods are still to come: {names}.")
    return wanted


def _lines_to_send(found: OrderDocuments, items: Items) -> list[SoldLine] | None:
    """None where it is the whole order, as ever in one parcel."""
    left = found.left_to_send
    if not left and not found.goes_by_email:
        raise NotPossible("Nothing of the order is left to send.", order_status=found.status)
    if found.may_wait:
        items = _those_here(found, items)
    lines = chosen_lines(found.order["basket"], left, items, "sent")
    return None if not found.decisions and is_everything(left, lines) else lines
