"""What staff note on an order for each other; customers do not see it."""

from typing import Any

from services.orders.declarations.events import NOTE_FIELDS, OrderNote
from services.orders.dependencies import Dependencies
from services.orders.documents import NOTE, order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.writing import event_fields
from shared.couch import time_ordered_id


def add_note(deps: Dependencies, found: OrderDocuments, text: str, actor: str, id: str | None) -> OrderNote:
    """One note more; the same `id` again changes nothing."""
    note, _ = deps.orders.add(
        NOTE.build(
            order_key(found.order["orderid"], f"note-{id or time_ordered_id()}"),
            **event_fields(found.order),
            text=text,
            by=actor,
        )
    )
    return note


def note_answer(note: OrderNote) -> dict[str, Any]:
    return {"id": note["_id"].partition(":note-")[2], **NOTE_FIELDS.shown(note)}
