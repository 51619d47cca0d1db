"""Customers from a file and into one, streamed."""

import csv
from collections.abc import Iterator
from itertools import chain
from typing import Any

import orjson
from flask import Response, request, stream_with_context

from services.users.actions import customer_files as act
from services.users.actions.customer_files import Imported, Line
from services.users.resources.context import actor, dependencies
from services.users.rules import customer_lines
from services.users.schemas import customer_files as schemas
from shared.couch.deadline import NO_LIMIT, time_limit
from shared.errors import BadRequest, Invalid
from shared.import_files import (
    CSV,
    NDJSON,
    LongRow,
    NoSuchImport,
    Numbered,
    WrongMedium,
    csv_text,
    decoded,
    json_lines,
)
from shared.web import Blueprint, audited, json_answer, lines_of, require_role, text_content

customer_files = Blueprint(
    "customer files", __name__, url_prefix="/v1/admin/customers", description="Import and export of customers"
)

MAX_FILE, MAX_LINE = 10 * 1024**3, 256 * 1024


@customer_files.post("/import")
@require_role("admin")
@customer_files.arguments(schemas.ImportArgs, location="query")
@customer_files.response(200, schemas.ImportedCustomers)
@customer_files.alt_response(400, "BAD_REQUEST")
@customer_files.alt_response(415, "UNSUPPORTED_MEDIA_TYPE")
@customer_files.doc(requestBody={"required": True, "content": text_content(NDJSON, CSV)})
@time_limit(NO_LIMIT)
@audited("import customers", "", "format", "from_line", "id")
def import_customers(args: dict[str, Any]) -> Response:
    """Customers as NDJSON or CSV, of any length. Who has an account keeps it as it is; nobody gets an e-mail. With `Accept:
    application/x-ndjson` progress is streamed"""
    request.max_content_length = MAX_FILE
    readers = {NDJSON: _json_lines, CSV: _csv_lines}
    if request.mimetype not in readers or (args["format"] and request.mimetype != CSV):
        raise WrongMedium(f"Send {CSV}." if args["format"] else f"Send {NDJSON} or {CSV}.")
    read = readers[request.mimetype](lines_of(request.stream, MAX_LINE), args["format"])
    lines = (line for line in read if line[0] >= args["from_line"])
    results = _told(act.import_customers(dependencies(), lines, actor()), args["id"])
    if request.accept_mimetypes.best_match(["application/json", NDJSON]) == NDJSON:
        begun = chain([next(results)], results)  # what is wrong with the file's head is no progress
        return Response(stream_with_context(_progress(begun)), mimetype=NDJSON)
    for result in results:
        last = result
    return json_answer(last.answer())


@customer_files.get("/imports/<string:importid>")
@require_role("admin")
@customer_files.response(200, schemas.CustomersImportProgress)
@customer_files.alt_response(404, "NOT_FOUND")
def customers_import_progress(importid: str) -> Response:
    """How far a running import (`?id=`) is"""
    state = dependencies().import_progress.of(importid)
    if state is None:
        raise NoSuchImport(f"No import {importid} in the last hour.")
    return json_answer(state)


@customer_files.post("/export")
@require_role("admin")
@customer_files.response(200, description="Every open account as a CSV file", content_type=CSV)
@time_limit(NO_LIMIT)
@audited("export customers", "")
def export_customers() -> Response:
    """Every open account with addresses, preferences and notes as a CSV file that the import takes; without passwords"""
    headers = {"Content-Disposition": 'attachment; filename="customers.csv"'}
    rows = csv_text(customer_lines.COLUMNS, map(customer_lines.rows_of, act.export_customers(dependencies())))
    return Response(stream_with_context(rows), mimetype=CSV, headers=headers)


def _told(results: Iterator[Imported], importid: str | None) -> Iterator[Imported]:
    """Passes them on, and keeps each for the page that shows how far it is."""
    state: dict[str, Any] = {}
    for result in results:
        state = result.summary()
        if importid:
            dependencies().import_progress.save(importid, {**state, "done": False})
        yield result
    if importid:
        dependencies().import_progress.save(importid, {**state, "done": True})


def _progress(results: Iterator[Imported]) -> Iterator[bytes]:
    """A line after each batch without the failures, and the whole result as the last one."""
    for result in results:
        last = result
        yield orjson.dumps({**result.summary(), "done": False}) + b"\n"
    yield orjson.dumps({**last.answer(), "done": True}) + b"\n"


def _json_lines(lines: Numbered, _: str | None) -> Iterator[Line]:
    return json_lines(lines, MAX_LINE)


def _csv_lines(lines: Numbered, shop: str | None) -> Iterator[Line]:
    """Customers by the number of the last line of their first row; the first row names the columns."""
    reader = csv.reader(decoded(lines, MAX_LINE), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        _check_header(header, shop)
        yield from customer_lines.customers_of_rows(_rows(reader, header, shop))
    except csv.Error as error:
        raise BadRequest(f"Line {reader.line_num} is not CSV: {error}.") from None


def _rows(reader: Any, header: list[str], shop: str | None) -> Iterator[tuple[int, dict[str, str] | Invalid]]:
    for cells in reader:
        row = dict(zip(header, cells, strict=False))
        if len(cells) > len(header):
            yield reader.line_num, LongRow(f"{len(cells)} cells for {len(header)} columns.")
        elif cells:
            yield reader.line_num, customer_lines.shopify_row(row) if shop else row


def _check_header(header: list[str], shop: str | None) -> None:
    wanted = ("Email",) if shop else ("email", "name")
    if missing := [name for name in wanted if name not in header]:
        raise BadRequest(f"The first row must name the columns; {', '.join(missing)} is missing.")
    if unknown := [name for name in header if name not in customer_lines.COLUMNS and not shop]:
        columns = ", ".join(customer_lines.COLUMNS)
        raise BadRequest(f"No customer has a column {unknown[0]!r}; the columns are {columns}.")
