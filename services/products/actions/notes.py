"""What staff note on a product for each other; customers do not see it."""

from typing import Any

from services.products.actions.catalogue import finish_moves, follow
from services.products.declarations.related_documents import ProductNote
from services.products.dependencies import Dependencies
from services.products.documents import PRODUCT_NOTE, note_id, note_prefix
from shared.couch import split_id, time_ordered_id
from shared.staff_notes import STAFF_NOTE_FIELDS


def add_note(
    deps: Dependencies, productid: str, text: str, actor: str, date: str, id: str | None
) -> dict[str, Any]:
    """One note more, on the product that this productid or SKU is of; the same `id` again changes nothing. Raises NoSuchProduct."""
    product = finish_moves(deps, productid, date)
    taxonomy, productid = product["taxonomy"], product["productid"]
    note = PRODUCT_NOTE.build(
        note_id(taxonomy, productid, id or time_ordered_id()),
        productid=productid,
        taxonomy=taxonomy,
        text=text,
        by=actor,
        date=date,
    )
    if not deps.catalogue.add_once(note):
        known = deps.catalogue.notes(taxonomy, productid)
        note = next(each for each in known if each["_id"] == note["_id"])
    follow(deps, product, date)
    return note_answer(note)


def notes_of(deps: Dependencies, productid: str, date: str) -> list[dict[str, Any]]:
    """The latest first. 1 global query and 1 partition query. Raises NoSuchProduct."""
    product = finish_moves(deps, productid, date)
    return [note_answer(note) for note in deps.catalogue.notes(product["taxonomy"], product["productid"])]


def note_answer(note: ProductNote) -> dict[str, Any]:
    id = split_id(note["_id"])[1].removeprefix(note_prefix(note["productid"]))
    return {"id": id, **STAFF_NOTE_FIELDS.shown(note)}
