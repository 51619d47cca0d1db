"""Notes of staff on products, as they are sent and answered."""

import marshmallow as ma

from shared.staff_notes import STAFF_NOTE_FIELDS
from shared.web import page_schema, request_schema, response_schema

NoteContent = request_schema("ProductNoteContent", STAFF_NOTE_FIELDS.select("text"))
Note = response_schema("ProductNote", STAFF_NOTE_FIELDS, {"id": ma.fields.String(required=True)})
Notes = page_schema("ProductNotes", Note)
