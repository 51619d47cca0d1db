"""The product form: its fields, the attributes of the chosen type among them, and its pictures."""

from collections.abc import Mapping

from flask import request

from services.storefront import forms
from services.storefront.pages.context import dependencies, services
from services.storefront.pages.desk import attributes as typed
from services.storefront.pages.desk.pictures import Pictures, pictures_of, rows_of, take_pictures
from services.storefront.pages.saved_forms import restore, restored
from services.storefront.pages.visitor import token
from services.storefront.rules import translations
from shared.errors import Invalid
from shared.types import Json

TRANSLATED = ("name", "description", translations.LABELS)


class ProductForm:
    """`form` with the fields of a product of the type `code`."""

    def __init__(self, fields: tuple[forms.Field, ...], code: str) -> None:
        types = services().products.product_types(token())
        self.attributes = typed.attributes_of(types, code)
        self.languages = dependencies().settings.languages[1:]
        translated = forms.translated_product(self.languages)
        self.form = forms.Form(
            (*fields, *translated, typed.type_field(types), *typed.attribute_fields(self.attributes)),
            {"product_type": code},
        )
        self.pictures: Pictures = []
        self.chooses_type = False

    @classmethod
    def of(
        cls, fields: tuple[forms.Field, ...], values: Mapping[str, str], product: Json | None, action: str
    ) -> "ProductForm":
        """The form of a product, or what was typed into it before the session was lost."""
        before = restored(action)
        shown = cls(fields, (before or product or {}).get("product_type", ""))
        said = translations.values_of((product or {}).get("translations", {}), TRANSLATED, shown.languages)
        shown.form.values |= {**values, **said, **typed.values_of(shown.attributes, product or {})}
        restore(shown.form, action)
        shown.pictures = rows_of(before) if before else pictures_of(product)
        return shown

    @classmethod
    def sent(cls, fields: tuple[forms.Field, ...], **known: str) -> "ProductForm":
        """The form as it was sent; who only chooses another type is shown its attributes."""
        values, found = {**request.form, **known}, cls(fields, request.form.get("product_type", ""))
        found.chooses_type = bool(request.form.get("choose_type"))
        if found.chooses_type:
            found.form.restore(values)
        else:
            found.form.read(values)
        found.pictures = take_pictures(found.form)
        return found

    @property
    def ready(self) -> bool:
        return self.form.is_valid and not self.chooses_type

    def attributes_body(self, product: Json | None = None) -> Json:
        """What was changed of the type and its attributes. Raises Invalid by field."""
        values = self.form.values
        if product is not None:
            names = [field.name for field in typed.attribute_fields(self.attributes)]
            had = typed.values_of(self.attributes, product) | {
                "product_type": product.get("product_type", "")
            }
            if all(values.get(name, "") == had.get(name, "") for name in ("product_type", *names)):
                return {}
        return {
            "product_type": values["product_type"],
            "attributes": typed.body_of(self.attributes, values),
        }

    def translations_body(self, product: Json | None = None) -> Json:
        """What is said in the shop's other languages; nothing where it has none. Raises Invalid by field."""
        if not self.languages:
            return {}
        before = (product or {}).get("translations", {})
        body = translations.body_of(self.form.values, before, TRANSLATED, self.languages)
        return {} if body == before else {"translations": body}

    def add_errors(self, error: Invalid) -> None:
        typed.add_errors(self.form, self.attributes, error)
