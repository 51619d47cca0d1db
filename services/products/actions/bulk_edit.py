"""Many products changed by one request: each as a whole or not at all, and none twice."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from services.products.actions import catalogue, maintenance, stock
from services.products.actions.invalidation import invalidate_changed, invalidate_pages
from services.products.declarations.product import Product
from services.products.dependencies import Dependencies
from services.products.documents import partition_of
from services.products.rules.bulk_edit import BulkEdit
from services.products.rules.price_changes import price_changes
from services.products.rules.product import (
    Checked,
    checked,
    complete,
    content_of,
    content_tag,
    replaced,
    same_content,
)
from services.products.rules.variants import skus_of
from shared.errors import AisleError, Conflict

MAX_NOTED = 10
_MAX_ATTEMPTS = 5


class StockByVariant(Conflict):
    code, title = "variant_needed", "It is sold by variant"


@dataclass
class Report:
    """What became of each product."""

    changed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    failed: dict[str, AisleError] = field(default_factory=dict)

    def answer(self) -> dict[str, Any]:
        return {
            "changed": len(self.changed),
            "unchanged": len(self.unchanged),
            "failed": [
                {"productid": productid, "code": error.code, "detail": error.detail}
                for productid, error in self.failed.items()
            ],
        }


def bulk_edit(deps: Dependencies, productids: Sequence[str], edit: BulkEdit, date: str) -> Report:
    """Changes these products. 1 global query, 1 write for all and 1 for their old prices; a product that moves, or whose stock
    changes, is written by itself.

    Sent again with the same key after a break it goes on where it was.
    """
    report = Report()
    wanted = list(dict.fromkeys(productids))
    if edit.changes_content:
        found = deps.catalogue.all_by_productid(wanted, allow_stale=False)
    else:
        found = catalogue.current(deps, wanted)
    docs = {doc["productid"]: doc for doc in found.values()}
    for productid in wanted:
        if productid not in docs:
            report.failed[productid] = catalogue.NoSuchProduct(f"There is no product {productid}.")
    docs = {productid: docs[productid] for productid in wanted if productid in docs}
    if edit.changes_content:
        _change_contents(deps, docs, edit, date, report)
    if edit.stock_delta:
        for productid in [each for each in docs if each not in report.failed]:
            _change_stock(deps, docs[productid], edit, date, report)
    return report


def _change_contents(
    deps: Dependencies, docs: dict[str, Product], edit: BulkEdit, date: str, report: Report
) -> None:
    left = dict(docs)
    for _ in range(_MAX_ATTEMPTS):
        left = _write(deps, left, edit, date, report)
        if not left:
            return
        left = deps.catalogue.follow_many([doc["_id"] for doc in left.values()])
    for productid in left:
        report.failed[productid] = Conflict(f"Product {productid} is changing too often just now; try again.")


def _write(
    deps: Dependencies, docs: dict[str, Product], edit: BulkEdit, date: str, report: Report
) -> dict[str, Product]:
    """Those that somebody else changed in between."""
    changes: list[tuple[Product, Product]] = []
    for productid, doc in docs.items():
        if edit.key in doc.get("bulk_edits", ()):
            report.changed.append(productid)
            continue
        try:
            product = _edited(doc, edit)
        except AisleError as error:
            report.failed[productid] = error
            continue
        if same_content(doc, product.content):
            report.unchanged.append(productid)
        elif partition_of(product.content["taxonomy"]) != partition_of(doc["taxonomy"]):
            _move(deps, doc, product, edit, date, report)
        else:
            fresh = replaced(doc, product.content, date)
            fresh["bulk_edits"] = _noted(doc, edit)
            changes.append((doc, fresh))
    return _put(deps, changes, edit, date, report)


def _noted(doc: Product, edit: BulkEdit) -> list[str]:
    return [*doc.get("bulk_edits", ()), edit.key][-MAX_NOTED:]


def _edited(doc: Product, edit: BulkEdit) -> Checked:
    """The product as it is to be, by the rules that every edit meets. Raises BadProduct."""
    product = checked(edit.applied(content_of(doc)))
    return product._replace(content=complete(product.content, doc))


def _put(
    deps: Dependencies, changes: list[tuple[Product, Product]], edit: BulkEdit, date: str, report: Report
) -> dict[str, Product]:
    prices = [each for doc, fresh in changes for each in price_changes(doc, content_of(fresh), date, edit.by)]
    written = deps.catalogue.put_many(fresh for _, fresh in changes) if changes else []
    rows = list(zip(changes, written, strict=True))
    done = [pair for pair, row in rows if not row.error]
    names = {doc["productid"] for doc, _ in done}
    if kept := [each for each in prices if each["productid"] in names]:
        deps.catalogue.put_many(kept)
    deps.vocabulary.replace([fresh for _, fresh in done], before=[doc for doc, _ in done])
    invalidate_changed(deps, done)
    report.changed += names
    return {doc["productid"]: doc for (doc, _), row in rows if row.error}


def _move(
    deps: Dependencies, doc: Product, product: Checked, edit: BulkEdit, date: str, report: Report
) -> None:
    productid = doc["productid"]
    try:
        tag, noted = content_tag(doc), _noted(doc, edit)
        catalogue.replace(deps, productid, product, tag, date, edit.by, bulk_edits=noted)
        report.changed.append(productid)
    except AisleError as error:
        if error.status >= 500:
            raise
        report.failed[productid] = error


def _change_stock(deps: Dependencies, doc: Product, edit: BulkEdit, date: str, report: Report) -> None:
    productid = doc["productid"]
    try:
        if skus_of(doc):
            raise StockByVariant("Say at the product itself of which variant the stock changes.")
        line = stock.line_for(doc, productid, None)
        stock.adjust(deps, line, edit.stock_delta or 0, edit.reason, f"{edit.key}:{productid}", date)
        maintenance.refresh_stock(deps, {doc["_id"]: [line]})
        invalidate_pages(deps, [doc])
    except AisleError as error:
        if error.status >= 500:
            raise
        report.failed[productid] = error
        return
    if productid in report.unchanged:
        report.unchanged.remove(productid)
    if productid not in report.changed:
        report.changed.append(productid)
