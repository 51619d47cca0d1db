"""The shop itself, as it is answered."""

import marshmallow as ma

from shared.web import Shape


class ShopIdentity(Shape):
    name = ma.fields.String()
    lines = ma.fields.List(ma.fields.String(), metadata={"description": "of its address"})
    logo = ma.fields.String(metadata={"description": "the id of a picture"})
