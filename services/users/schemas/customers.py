"""Customers as the desk asks for them, and as they are shown there."""

import marshmallow as ma

from services.users.actions.account_emails import KINDS
from services.users.declarations.customers import ACCOUNT_EMAIL_FIELDS
from services.users.documents import USER_FIELDS
from services.users.schemas.answers import Account, Address, Preferences
from shared.customer_groups import GROUP
from shared.fields import Choice, Declaration
from shared.language_codes import LANGUAGE
from shared.staff_notes import STAFF_NOTE_FIELDS
from shared.web import PageArgs, Shape, page_schema, request_schema, response_schema
from shared.web.fields import Text, Time

NoteContent = request_schema("CustomerNoteContent", STAFF_NOTE_FIELDS.select("text"))
Note = response_schema("CustomerNote", STAFF_NOTE_FIELDS, {"id": ma.fields.String(required=True)})
Notes = page_schema("CustomerNotes", Note)
EmailKind = request_schema("AccountEmailKind", Declaration({"kind": Choice(KINDS)}))
SentEmail = response_schema("AccountEmail", ACCOUNT_EMAIL_FIELDS, {"id": ma.fields.String(required=True)})
SentEmails = page_schema("AccountEmails", SentEmail)
Customers = page_schema("Customers", Account)


class CustomersArgs(PageArgs):
    """A page of customers, newest first."""

    q = Text(
        0,
        200,
        load_default="",
        metadata={
            "description": "a userid, words of a name in any order, or the beginning of one word or of an e-mail (2 letters or more)"
        },
    )
    group = ma.fields.String(
        load_default="",
        validate=ma.validate.Regexp(rf"^(|{GROUP})$"),
        metadata={"description": "only this customer group"},
    )


class PreviewArgs(Shape):
    language = ma.fields.String(
        load_default="",
        validate=ma.validate.Regexp(f"^(|{LANGUAGE})$"),
        metadata={"description": "the customer's own when left out"},
    )


class EmailPreview(Shape):
    to = ma.fields.String(required=True)
    subject = ma.fields.String(required=True)
    text = ma.fields.String(required=True)
    html = ma.fields.String(required=True)
    language = ma.fields.String(required=True)
    languages = ma.fields.List(
        ma.fields.String(), required=True, metadata={"description": "that it can be looked at in"}
    )


_MOMENT = "null for what has not happened, or happened before such times were kept"
Customer = response_schema(
    "Customer",
    USER_FIELDS.select(*USER_FIELDS.public, "active"),
    {
        "verified": Time(
            required=True,
            allow_none=True,
            metadata={"description": f"when the e-mail was confirmed; {_MOMENT}"},
        ),
        "closed": Time(
            required=True, allow_none=True, metadata={"description": f"when it was closed; {_MOMENT}"}
        ),
        "erased": ma.fields.Boolean(required=True),
        "erased_at": Time(required=True, allow_none=True),
        "language": ma.fields.String(required=True, metadata={"description": "of e-mails; may be empty"}),
        "addresses": ma.fields.List(ma.fields.Nested(Address), required=True),
        "preferences": ma.fields.Nested(Preferences, required=True),
        "notes": ma.fields.List(
            ma.fields.Nested(Note), required=True, metadata={"description": "of staff, the latest first"}
        ),
    },
)
