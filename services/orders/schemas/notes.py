"""Notes of staff, as they are sent and answered."""

import marshmallow as ma

from services.orders.declarations.events import NOTE_FIELDS
from shared.web import Shape, page_schema, request_fields, response_schema

NoteContent = Shape.from_dict(request_fields("Note", NOTE_FIELDS), name="NoteContent")
Note = response_schema("Note", NOTE_FIELDS, {"id": ma.fields.String()})
Notes = page_schema("Notes", Note)
