"""What the product form says for customs declarations."""

import re
from collections.abc import Mapping
from typing import Final

from services.storefront.translation import gettext as _
from services.storefront.translation import gettext_noop
from shared.errors import Invalid
from shared.types import Json

FIELDS: Final = ("hs_code", "origin")
_FORMS: Final = {
    "commercial_invoice": gettext_noop("Commercial invoice"),
    "cn22": gettext_noop("Customs declaration CN22"),
    "cn23": gettext_noop("Customs declaration CN23"),
}
_ANY_FORM: Final = gettext_noop("Customs form")
_LACKING: Final = {
    "hs_code": gettext_noop("HS code"),
    "origin": gettext_noop("Country of origin"),
    "weight_grams": gettext_noop("Weight"),
    "price": gettext_noop("Price"),
}
_HS_CODE: Final = re.compile("[0-9]{6,10}")
_PUNCTUATION: Final = re.compile(r"[.\s-]")


def values_of(product: Json) -> dict[str, str]:
    """A product's customs details as the form shows them."""
    said = product.get("customs") or {}
    return {name: said.get(name, "") for name in FIELDS}


def body_of(values: Mapping[str, str]) -> Json:
    """What was typed as the API's product has it: an HS code may be written with dots, as in books of tariffs. Raises Invalid by field."""
    code, origin = _PUNCTUATION.sub("", values.get("hs_code", "")), values.get("origin", "").upper()
    if code and not _HS_CODE.fullmatch(code):
        raise Invalid(errors={"hs_code": [_("An HS code has 6 to 10 digits.")]})
    if origin and not (len(origin) == 2 and origin.isascii() and origin.isalpha()):
        raise Invalid(errors={"origin": [_("Two capital letters, as in ISO 3166-1: GB.")]})
    return {"customs": {name: text for name, text in (("hs_code", code), ("origin", origin)) if text}}


def lacking(product: Json) -> tuple[str, str]:
    """The name of a product, and what a declaration needs of it, in words."""
    return product["name"], ", ".join(_(_LACKING[name]) for name in product["missing"] if name in _LACKING)


def form_name(form: Json) -> str:
    """Of a form that goes with a label, by what the carrier calls it."""
    words = _(_FORMS.get(form["kind"], _ANY_FORM))
    return _("%(form)s (sent to customs already)", form=words) if form["sent"] else words
