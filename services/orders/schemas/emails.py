"""E-mails about orders, as the desk asks for them."""

import marshmallow as ma

from shared.language_codes import LANGUAGE
from shared.web import Shape, page_schema
from shared.web.fields import Text, Time


class EmailKind(Shape):
    kind = Text(
        1, 200, required=True, metadata={"description": "of one that went out: payment, dispatch2 ..."}
    )


class GiftRecipientCorrection(Shape):
    """Who gets the codes of an order's gift cards now; the message to them stays."""

    email = ma.fields.Email(required=True, validate=ma.validate.Length(3, 254))
    name = Text(0, 200, load_default="")


class PreviewArgs(Shape):
    language = ma.fields.String(
        load_default="",
        validate=ma.validate.Regexp(f"^(|{LANGUAGE})$"),
        metadata={"description": "the order's own when left out"},
    )


class SentEmail(Shape):
    kind = ma.fields.String()
    date = Time()
    result = ma.fields.String(
        metadata={"description": "sent; nobody: the person was erased; limited: too many to one address"}
    )
    by = ma.fields.String(metadata={"description": "worker, or who sent it again"})


SentEmails = page_schema("SentEmails", SentEmail)


class EmailPreview(Shape):
    to = ma.fields.String()
    subject = ma.fields.String()
    text = ma.fields.String()
    html = ma.fields.String()
    language = ma.fields.String()
    languages = ma.fields.List(ma.fields.String(), metadata={"description": "that it can be looked at in"})
