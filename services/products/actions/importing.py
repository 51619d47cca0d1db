"""Bulk import and export: streamed, a batch in memory at a time, idempotent, so that a broken import is simply sent again."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from dataclasses import replace as with_changes
from functools import partial
from itertools import chain
from typing import Any

from services.products.actions.attributes import completed
from services.products.actions.catalogue import first_levels, open_stocks, replace
from services.products.actions.invalidation import invalidate, invalidate_changed
from services.products.actions.named_pictures import newly_named, refuse_missing
from services.products.actions.skus import claim_all, own_skus, owners_of, taken
from services.products.declarations.product import Product
from services.products.dependencies import Dependencies
from services.products.documents import product_id
from services.products.rules.price_changes import price_changes
from services.products.rules.product import (
    BadProduct,
    Checked,
    changes_what_is_counted,
    checked,
    document,
    exported,
    is_product,
    replaced,
    same_content,
)
from services.products.rules.shop_exports import Picture
from shared.clock import timestamp
from shared.couch import Doc, PageOf, Written
from shared.errors import AisleError, Unavailable
from shared.read_ahead import read_ahead

log = logging.getLogger(__name__)

BATCH = 500
MAX_BATCH_DOCUMENTS = 5_000
SMALL_FILE = range(100, 1_001)
MAX_FAILURES = 10_000
EXPORT_PAGE = 200
_LOCK_WAIT_SECONDS = 12


@dataclass(frozen=True)
class Line:
    """One product of the file: `data` as parsed, or what made it unreadable; `pictures` that are to be fetched, and `notes` on
    what was changed or left aside."""

    number: int
    data: Any = None
    problem: AisleError | None = None
    pictures: Sequence[Picture] = ()
    notes: Sequence[tuple[int, str, str]] = ()


@dataclass(frozen=True)
class Edit:
    """When a batch is written, and by whom."""

    date: str
    by: str


@dataclass
class Outcome:
    """What became of the lines, or would become in a dry run; `lines` is the last line dealt with, `is_indexed` whether each product is found
    by its id by now."""

    dry_run: bool = False

    lines: int = 0
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    failed: list[Doc] = field(default_factory=list)
    failures: int = 0
    notes: list[Doc] = field(default_factory=list)
    is_indexed: bool = True

    @property
    def written(self) -> int:
        return 0 if self.dry_run else self.created + self.updated

    def note(self, line: int, code: str, detail: str) -> None:
        """Says what of a line was changed or left aside."""
        if len(self.notes) < MAX_FAILURES:
            self.notes.append({"line": line, "code": code, "detail": detail})

    def fail(self, line: int, error: AisleError) -> None:
        self.failures += 1
        if len(self.failed) < MAX_FAILURES:
            self.failed.append({"line": line, "code": error.code, "detail": error.detail})

    def answer(self) -> Doc:
        self.failed.sort(key=lambda each: each["line"])
        return {
            "created": self.created,
            "updated": self.updated,
            "unchanged": self.unchanged,
            "failed": self.failed,
            **({"notes": self.notes} if self.notes else {}),
            **({"dry_run": True} if self.dry_run else {}),
            **({} if self.is_indexed else {"indexed": False}),
        }

    def summary(self) -> Doc:
        return {
            "lines": self.lines,
            "created": self.created,
            "updated": self.updated,
            "unchanged": self.unchanged,
            "failed": self.failures,
        }


@dataclass(frozen=True)
class ProductLine:
    """A valid line: the product's content and the stock it, or each of its variants, starts with."""

    number: int
    product: Checked
    pictures: Sequence[Picture] = ()

    @property
    def content(self) -> Doc:
        return self.product.content

    @property
    def weight(self) -> int:
        """The documents that it may write: itself, and for each of what it sells a first movement, for a variant a claim of its SKU too."""
        return 1 + (2 * len(self.content["variants"]) or 1)


@dataclass
class _Batch:
    """Lines that are written together, by productid; what is wrong with others, and what is to be said of any."""

    lines: dict[str, ProductLine] = field(default_factory=dict)
    weight: int = 0
    problems: list[tuple[int, AisleError]] = field(default_factory=list)
    notes: list[tuple[int, str, str]] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        """A file of nothing but bad lines has batches, too: what is wrong with all of them has no room in memory."""
        return (
            len(self.lines) == BATCH
            or self.weight > MAX_BATCH_DOCUMENTS
            or len(self.problems) == MAX_BATCH_DOCUMENTS
        )


Write = Callable[[Dependencies, list[ProductLine], Edit, Outcome], None]
"""Does with a batch of valid lines what the import is for."""


def run(
    deps: Dependencies,
    lines: Iterable[Line],
    report: Callable[[Doc], None],
    write: Write,
    *,
    by: str = "",
    dry_run: bool = False,
) -> Outcome:
    """Imports every line. An error of the database ends it: the answer says the first line that was not dealt with.

    `by` is whom the history of prices names.

    When it is answered each product is found by its id, and those of a small file in every list; lists follow a larger
    file in the background. A server that takes too long is left to it: all is written, and `is_indexed` says so.

    Each batch has its own date: a product that comes twice has two price changes, and a late edit is not an early one.
    """
    outcome = Outcome(dry_run=dry_run)
    try:
        with closing(read_ahead(_batches(lines))) as batches:
            for batch in batches:
                for note in batch.notes:
                    outcome.note(*note)
                for problem in batch.problems:
                    outcome.fail(*problem)
                if not batch.lines:
                    continue
                before = outcome.written
                valid = list(batch.lines.values())
                write(deps, valid, Edit(timestamp(), by), outcome)
                if outcome.written > before:
                    deps.index_catch_up.wrote(batch.weight)
                outcome.lines = max(outcome.lines, valid[-1].number)
                report(outcome.summary())
        if outcome.written:
            outcome.is_indexed = _is_found(deps, valid[-1].content["productid"])
        if outcome.written in SMALL_FILE:
            deps.index_catch_up.catch_up()
    except AisleError as error:
        error.extra |= {"resume_from_line": outcome.lines + 1, **outcome.summary()}
        raise
    report(outcome.summary() | {"done": True})
    return outcome


def _is_found(deps: Dependencies, productid: str) -> bool:
    """Whether products are found by their ids up to this one, once the index has caught up or the time is over."""
    try:
        deps.catalogue.all_by_productid([productid], allow_stale=False)
    except Unavailable as error:
        log.warning("products are not found by their ids yet: %s", error)
        return False
    return True


def export(deps: Dependencies) -> Iterator[Doc]:
    """Every product as an import line takes it: what the shop does not show first, then category by category. Nothing that was written before is
    left out: raises DatabaseUnavailable, before there is a first one, where an index is long in catching up."""
    readers = (
        partial(deps.catalogue.unpublished, None, "", allow_stale=False),
        partial(deps.catalogue.public_products, allow_stale=False),
    )
    begun = [(read_page, read_page(EXPORT_PAGE, None)) for read_page in readers]
    return map(exported, chain.from_iterable(_on_from(*each) for each in begun))


def _on_from(
    read_page: Callable[[int, str | None], PageOf[Product]], page: PageOf[Product]
) -> Iterator[Product]:
    """What is on a page, and on all that follow it."""
    yield from page.items
    while page.next is not None:
        page = read_page(EXPORT_PAGE, page.next)
        yield from page.items


def _batches(lines: Iterable[Line]) -> Iterator[_Batch]:
    """At most BATCH valid lines at a time, no product twice in one batch."""
    batch = _Batch()
    for line in lines:
        if batch.is_full:
            yield batch
            batch = _Batch()
        batch.notes += line.notes
        try:
            if line.problem:
                raise line.problem
            wanted = ProductLine(line.number, checked(line.data), line.pictures)
        except (BadProduct, AisleError) as error:
            batch.problems.append((line.number, error))
            continue
        productid = wanted.content["productid"]
        if productid in batch.lines:
            yield batch
            batch = _Batch()
        batch.lines[productid] = wanted
        batch.weight += wanted.weight
    yield batch


def write(deps: Dependencies, batch: list[ProductLine], edit: Edit, outcome: Outcome) -> None:
    """Creates what is not there, and gives the others their new content."""
    ids = {
        wanted.content["productid"]: product_id(wanted.content["taxonomy"], wanted.content["productid"])
        for wanted in batch
    }
    found = deps.catalogue.get_many(list(ids.values()))
    there = {docid: doc for docid, doc in found.items() if is_product(doc)}
    batch = with_known_pictures(
        deps,
        batch,
        {wanted.number: there.get(ids[wanted.content["productid"]]) for wanted in batch},
        outcome,
    )
    absent = [wanted for wanted in batch if ids[wanted.content["productid"]] not in there]
    moving = _create_absent(deps, absent, found, edit, outcome) if absent else []
    present = [
        (wanted, doc)
        for line in batch
        if (doc := there.get(ids[line.content["productid"]]))
        for wanted in completed_lines(deps, line, doc, outcome)
    ]
    changed = [(wanted, doc) for wanted, doc in present if not same_content(doc, wanted.content)]
    outcome.unchanged += len(present) - len(changed)
    recounted = [wanted for wanted, doc in changed if changes_what_is_counted(doc, wanted.content)]
    in_bulk = [(wanted, doc) for wanted, doc in changed if not changes_what_is_counted(doc, wanted.content)]
    invalidate_changed(deps, _update(deps, in_bulk, edit, outcome))
    for wanted in (*moving, *recounted):
        _write_individually(deps, wanted, edit, outcome)
    invalidate(deps, [wanted.content for wanted in absent], menu=bool(absent))


def with_known_pictures(
    deps: Dependencies, batch: list[ProductLine], there: Mapping[int, Product | None], outcome: Outcome
) -> list[ProductLine]:
    """The lines whose pictures are stored; the others fail. No call for a file that names no new ones."""
    named = {digest for wanted in batch for digest in newly_named(wanted.content, there[wanted.number])}
    missing = deps.pictures.missing(named) if named else set()
    if not missing:
        return batch
    known = []
    for wanted in batch:
        try:
            refuse_missing(wanted.content, there[wanted.number], missing)
            known.append(wanted)
        except BadProduct as error:
            outcome.fail(wanted.number, error)
    return known


def completed_lines(
    deps: Dependencies, line: ProductLine, before: Product | None, outcome: Outcome
) -> list[ProductLine]:
    """The line with its content complete; nothing when it contradicts itself, and fails."""
    try:
        return [
            with_changes(line, product=line.product._replace(content=completed(deps, line.content, before)))
        ]
    except BadProduct as error:
        outcome.fail(line.number, error)
        return []


def _create_absent(
    deps: Dependencies, absent: list[ProductLine], found: dict[str, Doc], edit: Edit, outcome: Outcome
) -> list[ProductLine]:
    """Creates what is nowhere, while nobody else does; the others, which are in another category."""
    productids = [wanted.content["productid"] for wanted in absent]
    skus = {sku: wanted.content["productid"] for wanted in absent for sku in own_skus(wanted.content)}
    names = [f"create:{each}" for each in (*productids, *skus)]
    with deps.locks.hold(*names, wait=_LOCK_WAIT_SECONDS) as acquired:
        if not acquired:
            raise Unavailable(
                "Some of these products are just being created; try again shortly.", retry_after=2
            )
        known = deps.catalogue.all_by_productid([*productids, *skus], allow_stale=False)
        elsewhere = {each for each in productids if each in known and known[each]["productid"] == each}
        fresh = [
            wanted
            for line in absent
            if line.content["productid"] not in elsewhere
            for wanted in completed_lines(deps, line, None, outcome)
        ]
        fresh = refuse_lines(fresh, owners_of(known), outcome)
        claimed = {sku: wanted.content["productid"] for wanted in fresh for sku in own_skus(wanted.content)}
        fresh = refuse_lines(fresh, claim_all(deps, claimed), outcome)
        _create(deps, fresh, found, edit, outcome)
    return [wanted for wanted in absent if wanted.content["productid"] in elsewhere]


def refuse_lines(fresh: list[ProductLine], owners: dict[str, str], outcome: Outcome) -> list[ProductLine]:
    """The others; what has an id or SKU of another product (`owners`), also of one before it, fails."""
    left, owners = [], dict(owners)
    for wanted in fresh:
        ids = (wanted.content["productid"], *own_skus(wanted.content))
        if clash := {each: owners[each] for each in ids if owners.get(each, ids[0]) != ids[0]}:
            outcome.fail(wanted.number, taken(clash))
        else:
            left.append(wanted)
            owners |= dict.fromkeys(ids, ids[0])
    return left


def _create(
    deps: Dependencies, fresh: list[ProductLine], forwards: dict[str, Doc], edit: Edit, outcome: Outcome
) -> None:
    """The first movement of each before the product itself: a crash in between leaves nothing that a second import cannot finish."""
    open_stocks(deps, [line for wanted in fresh for line in first_levels(wanted.product)], edit.date)
    docs = [
        document(wanted.content, edit.date, stock=wanted.product.stock or 0, levels=wanted.product.stocks)
        for wanted in fresh
    ]
    for doc in docs:
        if forward := forwards.get(doc["_id"]):
            doc["_rev"] = forward["_rev"]
    deps.vocabulary.replace(docs)
    for wanted, row in zip(fresh, deps.catalogue.put_many(docs) if docs else [], strict=True):
        if not row.error:
            outcome.created += 1
        elif row.error == "conflict":
            _write_individually(deps, wanted, edit, outcome)
        else:
            outcome.fail(wanted.number, _refused(row))


def _update(
    deps: Dependencies, changed: list[tuple[ProductLine, Product]], edit: Edit, outcome: Outcome
) -> list[tuple[Product, Product]]:
    """Writes new content; the documents as they were and as they are now."""
    docs = [replaced(doc, wanted.content, edit.date) for wanted, doc in changed]
    deps.vocabulary.replace(docs, before=[doc for _, doc in changed])
    prices = [
        change for wanted, doc in changed for change in price_changes(doc, wanted.content, edit.date, edit.by)
    ]
    written = deps.catalogue.put_many([*docs, *prices]) if docs else []
    for (wanted, _), row in zip(changed, written, strict=False):
        if not row.error:
            outcome.updated += 1
        elif row.error == "conflict":
            _write_individually(deps, wanted, edit, outcome)
        else:
            outcome.fail(wanted.number, _refused(row))
    return [(doc, fresh) for (_, doc), fresh in zip(changed, docs, strict=True)]


def _write_individually(deps: Dependencies, wanted: ProductLine, edit: Edit, outcome: Outcome) -> None:
    """A product that is changed at the same time, or that moves to another category."""
    try:
        before = deps.catalogue.by_productid(wanted.content["productid"], allow_stale=False)
        if same_content(before, completed(deps, wanted.content, before)):
            outcome.unchanged += 1
            return
        replace(deps, wanted.content["productid"], wanted.product, None, edit.date, edit.by)
        outcome.updated += 1
    except AisleError as error:
        if error.status >= 500:
            raise
        outcome.fail(wanted.number, error)


def _refused(row: Written) -> AisleError:
    error = BadProduct(f"The database refused it: {row.error} ({row.reason}).")
    error.extra["database"] = row.error
    return error
