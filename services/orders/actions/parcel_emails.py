"""The e-mails about a parcel with a part of an order: that it left, with its lines and where to follow it, and that it has arrived."""

from services.orders.actions.emails import compose_mail
from services.orders.declarations.order import name_of
from services.orders.dependencies import Dependencies
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.parcels import Parcel
from shared.mail import Email


def compose_parcel(deps: Dependencies, found: OrderDocuments, kind: str) -> Email:
    """Of `Parcel.kind` or `Parcel.delivery_kind`."""
    parcel = next(each for each in found.parcels if kind in (each.kind, each.delivery_kind))
    left = kind == parcel.kind
    subject = f"Parcel {parcel.number} of your order {name_of(found.order)} {'is on its way' if left else 'has arrived'}"
    return compose_mail(deps, found, subject, _text(found, parcel, left=left), kind)


def _text(found: OrderDocuments, parcel: Parcel, *, left: bool) -> str:
    goods = "\n".join(f"{line['quantity']} x {line['name']}" for line in parcel.lines)
    if not left:
        return f"this parcel of your order has arrived:\n\n{goods}\n\nShould something be wrong with it, you can return it."
    dispatch = parcel.dispatch
    rest = "\n\nThe rest of your order follows." if found.left_to_send else ""
    return f"this is on its way with {dispatch['courier']}, parcel {dispatch['courierid']}:\n\n{goods}{_tracking(parcel)}{rest}"


def _tracking(parcel: Parcel) -> str:
    url = parcel.dispatch.get("tracking_url")
    return f"\n\nSee how far it is: {url}" if url else ""
