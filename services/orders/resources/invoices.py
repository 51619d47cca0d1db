"""Invoices, credit notes and packing slips as PDF."""

from collections.abc import Callable

from flask import Response, request

from services.orders.actions import invoices as act
from services.orders.actions import reading
from services.orders.actions.parcel_labels import parcel_label_form, parcel_label_pdf
from services.orders.actions.return_labels import label_document, label_form_document
from services.orders.declarations.invoices import INVOICE_FIELDS
from services.orders.resources.context import dependencies
from services.orders.resources.requester import requested_order
from services.orders.schemas import invoices as schemas
from services.orders.schemas import requests
from shared.couch.deadline import time_limit
from shared.web import Blueprint, Shape, json_answer, require_role

invoices = Blueprint("invoices", __name__, url_prefix="/v1", description="Documents for print")

JSON, PDF = "application/json", "application/pdf"
PRINT_SECONDS = 25
Handler = Callable[..., Response]
_BINARY = {"type": "string", "format": "binary"}
_AS_PDF = {200: {"content": {PDF: {"schema": _BINARY}}}}


def _printed(path: str, *, conflict: bool = True) -> Callable[[Handler], Handler]:
    """A PDF for whoever may read the order; `conflict`: it may be asked for too early."""

    def decorate(handler: Handler) -> Handler:
        limited = time_limit(PRINT_SECONDS)(handler)
        if conflict:
            limited = invoices.alt_response(409, "CONFLICT")(limited)
        found = invoices.alt_response(404, "NOT_FOUND")(limited)
        described = invoices.response(200, _BINARY, content_type=PDF)(
            invoices.alt_response(401, "UNAUTHORIZED")(found)
        )
        checked = invoices.arguments(requests.TokenHeader, location="headers")(described)
        return invoices.get(path)(invoices.doc(security=[{"user": []}, {}])(checked))

    return decorate


def _printed_for_staff(path: str, arguments: type[Shape] | None = None) -> Callable[[Handler], Handler]:
    """A PDF for the desk alone; `arguments`: those of its query."""

    def decorate(handler: Handler) -> Handler:
        limited = invoices.alt_response(409, "CONFLICT")(time_limit(PRINT_SECONDS)(handler))
        found = invoices.alt_response(404, "NOT_FOUND")(limited)
        checked = invoices.response(200, _BINARY, content_type=PDF)(found)
        if arguments is not None:
            checked = invoices.arguments(arguments, location="query")(checked)
        return invoices.get(path)(require_role("admin", "staff")(checked))

    return decorate


@invoices.get("/orders/<string:orderid>/invoice")
@invoices.doc(security=[{"user": []}, {}], responses=_AS_PDF)
@invoices.arguments(requests.TokenHeader, location="headers")
@invoices.response(200, schemas.Invoice)
@invoices.alt_response(401, "UNAUTHORIZED")
@invoices.alt_response(404, "NOT_FOUND")
@invoices.alt_response(409, "CONFLICT")
@time_limit(PRINT_SECONDS)
def invoice(headers: dict[str, str], orderid: str) -> Response:
    """The invoice of a paid order as PDF, or its number and seller as JSON; it gets its number when it is asked for first"""
    deps, found = dependencies(), requested_order(headers, orderid, from_archive=True)
    if request.accept_mimetypes.best_match([PDF, JSON], PDF) == JSON:
        return json_answer(INVOICE_FIELDS.shown(act.issued_invoice(deps, found)))
    return _pdf(*act.print_invoice(deps, found))


@_printed("/orders/<string:orderid>/invoice.pdf")
def invoice_pdf(headers: dict[str, str], orderid: str) -> Response:
    """The invoice of a paid order as PDF, whatever is accepted"""
    return _pdf(*act.print_invoice(dependencies(), requested_order(headers, orderid, from_archive=True)))


@_printed("/orders/<string:orderid>/credit-notes/<string:number>.pdf")
def credit_note(headers: dict[str, str], orderid: str, number: str) -> Response:
    """The credit note of a refund, by the refund's number, as PDF"""
    return _pdf(
        *act.print_credit_note(dependencies(), requested_order(headers, orderid, from_archive=True), number)
    )


@_printed("/orders/<string:orderid>/returns/<string:number>/slip.pdf")
def return_slip(headers: dict[str, str], orderid: str, number: str) -> Response:
    """What goes into the parcel of an approved return, as PDF: its number, its lines and the shop's address for returns"""
    return _pdf(*act.print_return_slip(dependencies(), requested_order(headers, orderid), number))


@_printed("/orders/<string:orderid>/returns/<string:number>/label.pdf", conflict=False)
def return_label(headers: dict[str, str], orderid: str, number: str) -> Response:
    """The label that the shop has bought for the parcel of an approved return, as PDF"""
    return _pdf(*label_document(dependencies(), requested_order(headers, orderid), number))


@_printed("/orders/<string:orderid>/returns/<string:number>/forms/<string:form>.pdf", conflict=False)
def return_label_form(headers: dict[str, str], orderid: str, number: str, form: str) -> Response:
    """A form that goes with the label of a return across a customs border, by its number from 1, as PDF"""
    return _pdf(*label_form_document(dependencies(), requested_order(headers, orderid), number, form))


@_printed_for_staff("/admin/orders/<string:orderid>/labels/<string:number>/forms/<string:form>.pdf")
def parcel_form(orderid: str, number: str, form: str) -> Response:
    """A form that goes with a label across a customs border, such as the commercial invoice, by its number from 1, as PDF"""
    deps = dependencies()
    return _pdf(*parcel_label_form(deps, reading.any_order(deps, orderid), number, form))


@_printed_for_staff("/admin/orders/<string:orderid>/labels/<string:number>/label.pdf")
def parcel_label(orderid: str, number: str) -> Response:
    """The label that was bought for a parcel, as PDF"""
    deps = dependencies()
    return _pdf(*parcel_label_pdf(deps, reading.any_order(deps, orderid), number))


@_printed_for_staff("/admin/orders/<string:orderid>/packing-slip.pdf", schemas.PackingSlipArgs)
def packing_slip(args: dict[str, int], orderid: str) -> Response:
    """What goes into a parcel, as PDF: one of those that left, or with all that is left to send"""
    deps = dependencies()
    return _pdf(*act.print_packing_slip(deps, reading.any_order(deps, orderid), args["parcel"]))


def _pdf(name: str, content: bytes) -> Response:
    disposition = f'inline; filename="{name}.pdf"'
    return Response(
        content,
        mimetype=PDF,
        headers={"Content-Disposition": disposition, "Cache-Control": "private, no-cache"},
    )
