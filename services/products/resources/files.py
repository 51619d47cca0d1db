"""Bulk import and export, streamed."""

import csv
from collections.abc import Iterator
from typing import Any

import orjson
from flask import Response, request, stream_with_context

from services.products.actions import importing
from services.products.actions.import_preview import preview
from services.products.actions.importing import Line
from services.products.actions.picture_downloads import write_with_pictures
from services.products.resources.context import dependencies
from services.products.rules import rows
from services.products.rules.shop_exports import MAX_BYTES, READERS, Options
from services.products.schemas import files as schemas
from shared.couch.deadline import NO_LIMIT, time_limit
from shared.errors import AisleError, BadRequest, Invalid, TooLarge
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
from shared.web import Blueprint, audited, current_user, json_answer, lines_of, require_role, text_content

files = Blueprint("files", __name__, description="Import and export")

EXPORT_MEDIA = frozenset(
    ("text/csv", "application/csv", "application/vnd.ms-excel", "application/octet-stream")
)
MAX_FILE, MAX_LINE = 100 * 1024**3, 512 * 1024

_TEXT = text_content(NDJSON, CSV)
_BODY = {"required": True, "content": _TEXT}


class LoneVariant(Invalid):
    code, title = "variant_without_product", "The row is of a variant, and its product is not before it"


@files.post("/v1/products/import")
@require_role("admin")
@files.arguments(schemas.ImportArgs, location="query")
@files.response(200, schemas.Imported)
@files.alt_response(415, "UNSUPPORTED_MEDIA_TYPE")
@files.doc(requestBody=_BODY)
@time_limit(NO_LIMIT)
@audited("import products", "", "format", "dry_run", "from_line", "id")
def import_products(args: dict[str, Any]) -> Response:
    """Products as NDJSON or CSV, or as Shopify or WooCommerce export them (CSV); send it again to go on after a break"""
    if args["format"]:
        lines, write = _exported_lines(args), _writer(args)
    else:
        lines, write = _own_lines(), importing.write
    outcome = importing.run(
        dependencies().bulk,
        (line for line in lines if line.number >= args["from_line"]),
        lambda state: _save_progress(args["id"], state),
        preview if args["dry_run"] else write,
        by=current_user().userid,
        dry_run=args["dry_run"],
    )
    return json_answer(outcome.answer())


def _own_lines() -> Iterator[Line]:
    request.max_content_length = MAX_FILE
    readers = {NDJSON: _json_lines, CSV: _csv_lines}
    if request.mimetype not in readers:
        raise WrongMedium(f"Send {NDJSON} or {CSV}.")
    return readers[request.mimetype](lines_of(request.stream, MAX_LINE))


def _writer(args: dict[str, Any]) -> importing.Write:
    return write_with_pictures if args["pictures"] == "fetch" else importing.write


def _exported_lines(args: dict[str, Any]) -> Iterator[Line]:
    """The whole file is read at once: rows of a product may be anywhere in it."""
    if request.mimetype not in EXPORT_MEDIA:
        raise WrongMedium(f"Send the file as {CSV}.")
    request.max_content_length = MAX_BYTES + 1
    content = request.stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise TooLarge(f"Such a file may have {MAX_BYTES} bytes: split it.")
    options = Options(args["currency"], args["untracked_stock"])
    for found in READERS[args["format"]](content, options):
        if args["pictures"] == "reference" and found.pictures:
            found.data["image"] = found.pictures[0].address
        pictures = found.pictures if args["pictures"] == "fetch" else ()
        yield Line(found.line, found.data, found.problem, pictures, found.notes)


@files.get("/v1/products/imports/<importid>")
@require_role("admin")
@files.response(200, schemas.ImportProgress)
@files.alt_response(404, "NOT_FOUND")
def import_progress(importid: str) -> Response:
    """How far a running import (`?id=`) is"""
    state = dependencies().import_progress.of(importid)
    if state is None:
        raise NoSuchImport(f"No import {importid} in the last hour.")
    return json_answer(state)


@files.get("/v1/products/export")
@require_role("admin", "staff")
@files.doc(
    responses={"200": {"description": "OK", "content": _TEXT}},
    parameters=[
        {
            "in": "header",
            "name": "Accept",
            "schema": {"type": "string"},
            "description": f"{NDJSON} or {CSV}; anything else is answered as the first",
        }
    ],
)
def export_products() -> Response:
    """Every product, as the import takes it"""
    products = importing.export(dependencies())
    if request.accept_mimetypes.best_match([NDJSON, CSV], NDJSON) == CSV:
        return Response(stream_with_context(_csv_rows(products)), mimetype=CSV)
    return Response(stream_with_context(orjson.dumps(each) + b"\n" for each in products), mimetype=NDJSON)


def _save_progress(importid: str | None, state: dict[str, Any]) -> None:
    if importid:
        dependencies().import_progress.save(importid, state)


def _json_lines(lines: Numbered) -> Iterator[Line]:
    for number, found in json_lines(lines, MAX_LINE):
        yield Line(number, problem=found) if isinstance(found, Invalid) else Line(number, found)


def _csv_lines(lines: Numbered) -> Iterator[Line]:
    """Rows by the number of their last line; the first one names the columns."""
    reader = csv.reader(decoded(lines, MAX_LINE), strict=True)
    try:
        header = next(reader, [])
        _check_header(header)
        yield from _csv_products(reader, header)
    except csv.Error as error:
        raise BadRequest(f"Line {reader.line_num} is not CSV: {error}.") from None


def _check_header(header: list[str]) -> None:
    if missing := rows.missing_columns(header):
        raise BadRequest(f"The first row must name the columns; {', '.join(missing)} is missing.")
    if unknown := [name for name in header if not rows.is_column(name)]:
        raise BadRequest(
            f"No product has a column {unknown[0]!r}; the columns are {', '.join(rows.COLUMNS)}, price_EUR, name_de and so on."
        )


def _csv_products(reader: Any, header: list[str]) -> Iterator[Line]:
    """Each product with all its variants: they are in the rows right behind its own."""
    product: Line | None = None
    for cells in reader:
        row = dict(zip(header, cells, strict=False))
        if (
            product is not None
            and product.data
            and rows.is_continued(product.data, row)
            and len(cells) <= len(header)
        ):
            rows.add_variant(product.data, row)
            continue
        if product is not None:
            yield product
            product = None
        if len(cells) > len(header):
            problem: AisleError = LongRow(f"{len(cells)} cells for {len(header)} columns.")
            yield Line(reader.line_num, problem=problem)
        elif cells and rows.is_variant_alone(row):
            problem = LoneVariant("It names a SKU and no product, and is not behind its product's row.")
            yield Line(reader.line_num, problem=problem)
        elif cells:
            product = Line(reader.line_num, rows.product_of(row))
    if product is not None:
        yield product


def _csv_rows(products: Iterator[dict[str, Any]]) -> Iterator[str]:
    settings = dependencies().settings
    currencies, languages = settings.currencies, settings.spoken[1:]
    groups = (rows.rows_of(product, currencies, languages) for product in products)
    return csv_text(rows.columns(currencies, languages), groups)
