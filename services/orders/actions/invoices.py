"""Invoices, credit notes and packing slips: issued once under a number of their own, printed whenever they are asked for."""

import logging
from collections.abc import Callable, Mapping
from typing import cast

from services.orders.actions.parcels import NoSuchParcel
from services.orders.actions.return_requests import NoSuchReturn
from services.orders.declarations.events import OrderDispatch, Refund
from services.orders.declarations.invoices import CREDIT_NOTE, INVOICE, CreditNote, Invoice, NumberRequest
from services.orders.declarations.order import name_of
from services.orders.declarations.parts import Line, line_key
from services.orders.dependencies import Dependencies
from services.orders.documents import CREDIT_NOTE as CREDIT_NOTE_TYPE
from services.orders.documents import INVOICE as INVOICE_TYPE
from services.orders.documents import NUMBER_REQUEST, order_key
from services.orders.rules.archive import is_archived
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.invoices import (
    PrintedPage,
    credit_note_page,
    invoice_page,
    packing_slip_page,
    seller_of,
)
from services.orders.rules.order_returns import APPROVED
from services.orders.rules.parcel_labels import has_paper_form
from services.orders.rules.return_slips import return_slip_page
from services.orders.rules.returns import quantities_by_key
from services.orders.rules.writing import event_fields
from shared.clock import now
from shared.errors import Conflict, NotFound
from shared.translation import language_active

INVOICE_PREFIX, CREDIT_NOTE_PREFIX = "A", "C"

log = logging.getLogger(__name__)


class ReturnNotApproved(Conflict):
    code, title = "return_not_approved", "The return is not approved"


class NotIssued(Conflict):
    code, title = "not_issued", "It was not issued before the order was archived"


class NoSuchRefund(NotFound):
    code, title = "no_such_refund", "There is no such refund"


def issued_invoice(deps: Dependencies, found: OrderDocuments) -> Invoice:
    """The order's invoice, issued when it is asked for first: 2 partition queries and 3 writes then, no call afterwards. Raises NotPaid."""
    found.require_payment()
    if found.invoice is not None:
        return found.invoice
    _check_may_be_numbered(found)
    invoice = INVOICE_TYPE.build(
        order_key(found.order["orderid"], "invoice"),
        number=_number(deps, found, INVOICE, INVOICE_PREFIX, INVOICE),
        seller=seller_of(deps.terms.shop, deps.terms.country),
        language=deps.language_of(found.order).code,
        **event_fields(found.order),
    )
    return deps.orders.add(invoice)[0]


def issued_credit_note(deps: Dependencies, found: OrderDocuments, refund: Refund) -> CreditNote:
    """What takes this refund back of the invoice; the invoice is issued before it."""
    if refund["number"] in found.credit_notes:
        return found.credit_notes[refund["number"]]
    _check_may_be_numbered(found)
    invoice, reference = issued_invoice(deps, found), refund["reference"]
    note = CREDIT_NOTE_TYPE.build(
        order_key(found.order["orderid"], f"{reference}creditnote"),
        number=_number(deps, found, CREDIT_NOTE, CREDIT_NOTE_PREFIX, reference),
        invoice=invoice["number"],
        reference=reference,
        seller=seller_of(deps.terms.shop, deps.terms.country),
        language=invoice["language"],
        **event_fields(found.order),
    )
    return deps.orders.add(note)[0]


def print_invoice(deps: Dependencies, found: OrderDocuments) -> tuple[str, bytes]:
    """The file's name and the PDF."""
    invoice = issued_invoice(deps, found)
    return invoice["number"], _printed(deps, invoice["language"], lambda: invoice_page(found, invoice))


def print_credit_note(deps: Dependencies, found: OrderDocuments, number: str) -> tuple[str, bytes]:
    """Of the refund with this number. Raises NoSuchRefund."""
    refund = next((each for each in found.refunds if str(each["number"]) == number), None)
    if refund is None:
        raise NoSuchRefund(f"This order has no refund {number}.")
    note = issued_credit_note(deps, found, refund)
    return note["number"], _printed(deps, note["language"], lambda: credit_note_page(found, note, refund))


def print_packing_slip(deps: Dependencies, found: OrderDocuments, number: int = 0) -> tuple[str, bytes]:
    """Of the goods in the parcel with this number, without one of what is left to send, else of the whole order; as the shop is now.

    Raises NotPaid, NoSuchParcel.
    """
    found.require_payment()
    seller = seller_of(deps.terms.shop, deps.terms.country)
    parcel, quantities = _packed(found, number)
    lines = [
        cast(Line, {**line, "quantity": quantities[line_key(line)]})
        for line in found.order["basket"]
        if not line.get("gift_card") and quantities.get(line_key(line))
    ]
    language = deps.language_of(found.order).code
    name = f"{name_of(found.order)}-packing-slip{f'-{number}' if number else ''}"
    form = has_paper_form(found, parcel)
    return name, _printed(
        deps, language, lambda: packing_slip_page(found, seller, lines, parcel, customs_form=form)
    )


def print_return_slip(deps: Dependencies, found: OrderDocuments, number: str) -> tuple[str, bytes]:
    """Of an approved return, for the parcel in which its goods come back; as the shop is now. Raises NoSuchReturn, ReturnNotApproved."""
    back = next((each for each in found.order_returns if str(each.number) == number), None)
    if back is None:
        raise NoSuchReturn(f"This order has no return {number}.")
    if back.status != APPROVED:
        raise ReturnNotApproved("Only an approved return has a slip, until its goods are here.")
    seller = seller_of(deps.terms.shop, deps.terms.country)
    address = [line for line in deps.terms.returns.address.splitlines() if line.strip()]
    language = deps.language_of(found.order).code
    name = f"{name_of(found.order)}-return-slip-{number}"
    return name, _printed(deps, language, lambda: return_slip_page(found, back, seller, address))


def _packed(found: OrderDocuments, number: int) -> tuple[OrderDispatch | None, Mapping[str, int]]:
    """A parcel, and how many of each line (by `line_key`) are in it."""
    if number:
        parcel = next((each for each in found.parcels if each.number == number), None)
        if parcel is None:
            raise NoSuchParcel(f"No parcel {number} of this order has left.")
        return parcel.dispatch, quantities_by_key(parcel.lines)
    if left := found.left_to_send:
        return None, left
    return found.dispatch, {line_key(line): line["quantity"] for line in found.kept_lines}


def _check_may_be_numbered(found: OrderDocuments) -> None:
    """Raises NotIssued: nothing is written of an archived order."""
    if is_archived(found):
        raise NotIssued("It was not issued before the order was archived: bring the order back first.")


def _number(deps: Dependencies, found: OrderDocuments, kind: str, prefix: str, reference: str) -> str:
    """A-2026-000123, the same whoever asks: see `store.invoice_numbers`."""
    request = found.number_request(reference) or _requested(deps, found, kind, reference)
    return f"{prefix}-{request['year']}-{deps.invoice_numbers.take(request):06d}"


def _requested(deps: Dependencies, found: OrderDocuments, kind: str, reference: str) -> NumberRequest:
    year = now().year
    request = NUMBER_REQUEST.build(
        order_key(found.order["orderid"], f"{reference}numberrequest"),
        kind=kind,
        reference=reference,
        year=year,
        after=deps.invoice_numbers.last(kind, year),
        **event_fields(found.order),
    )
    return deps.orders.add(request)[0]


def _printed(deps: Dependencies, language: str, page: Callable[[], PrintedPage]) -> bytes:
    with language_active(deps.language(language)):
        content = page()
    return deps.printer.pdf(content, _logo(deps, content["seller"]["logo"]))


def _logo(deps: Dependencies, id: str) -> bytes | None:
    """None without one, and for a picture that is lost: then the shop's name stands in its place."""
    try:
        return deps.products.picture(id) if id else None
    except NotFound:
        log.warning("the picture %s, a logo on invoices, is lost", id)
        return None
