"""What stands on a return slip, in the active language: what customers put into the parcel with goods that they send back."""

from collections.abc import Sequence

from services.orders.declarations.invoices import Seller
from services.orders.declarations.order import name_of
from services.orders.declarations.parts import SoldLine
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.invoices import PrintedPage, Table, day, page, section
from services.orders.rules.order_returns import OrderReturn
from shared.translation import gettext, ngettext


def return_slip_page(
    found: OrderDocuments, back: OrderReturn, seller: Seller, address: Sequence[str]
) -> PrintedPage:
    """Where the goods go (`address`; the seller's own without one), which return they are of, and what is in the parcel; no prices."""
    customer = found.customer
    facts = [
        [gettext("Order"), name_of(found.order)],
        [gettext("Return"), str(back.number)],
        [gettext("Approved"), day(back.approved)],
        *([[gettext("Reason"), back.first["reason"]]] if back.first["reason"] else []),
    ]
    to = list(address) or [seller["name"], *seller["lines"]]
    sender = [section(gettext("From"), [customer["name"]])] if customer and customer["name"] else []
    pieces = sum(line["quantity"] for line in back.lines)
    return page(
        gettext("Return slip %(number)s", number=f"{name_of(found.order)}-R{back.number}"),
        back.approved,
        seller,
        [section(gettext("Goes to"), to), *sender, section(gettext("Details"), facts=facts)],
        [_goods(back.lines)],
        [],
        [
            ngettext("%(num)s item in all.", "%(num)s items in all.", pieces),
            gettext("Put this slip into the parcel, so that we know whose goods these are."),
        ],
    )


def _goods(lines: Sequence[SoldLine]) -> Table:
    return {
        "title": "",
        "head": [gettext("Quantity"), gettext("Product"), gettext("Article")],
        "numeric": [True, False, False],
        "rows": [
            [str(line["quantity"]), line["name"], line.get("sku") or line["productid"]] for line in lines
        ],
    }
