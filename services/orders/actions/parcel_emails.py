"""The e-mails about a parcel with a part of an order: that it left, with its lines and where to follow it, and that it has arrived."""

from services.orders.actions.emails import compose_mail, follow, goods_list
from services.orders.declarations.order import name_of
from services.orders.dependencies import Dependencies
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.parcels import Parcel
from shared.mail import Email
from shared.translation import gettext


def compose_parcel(deps: Dependencies, found: OrderDocuments, kind: str) -> Email:
    """Of `Parcel.kind` or `Parcel.delivery_kind`."""
    parcel = next(each for each in found.parcels if kind in (each.kind, each.delivery_kind))
    named = {"number": parcel.number, "order": name_of(found.order)}
    if kind == parcel.kind:
        subject = gettext("Parcel %(number)s of your order %(order)s is on its way", **named)
        return compose_mail(deps, found, subject, _left(found, parcel), kind)
    subject = gettext("Parcel %(number)s of your order %(order)s has arrived", **named)
    return compose_mail(deps, found, subject, _arrived(found, parcel), kind)


def _left(found: OrderDocuments, parcel: Parcel) -> str:
    dispatch, url = parcel.dispatch, parcel.dispatch.get("tracking_url")
    courier, number = dispatch["courier"], dispatch["courierid"]
    way = gettext(
        "this is on its way with %(courier)s, tracking number %(number)s:", courier=courier, number=number
    )
    rest = [gettext("The rest of your order follows.")] if found.left_to_send else []
    return "\n\n".join([way, goods_list(found, parcel.lines), *([follow(url)] if url else []), *rest])


def _arrived(found: OrderDocuments, parcel: Parcel) -> str:
    return "\n\n".join(
        [
            gettext("this parcel of your order has arrived:"),
            goods_list(found, parcel.lines),
            gettext("Should something be wrong with it, you can return it."),
        ]
    )
