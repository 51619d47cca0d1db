"""Address forms that fit the country: its own fields, labels and regions, in the order in which it writes them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from babel.core import get_global

from services.storefront.forms import EMAIL, Field, Form
from services.storefront.translation import active_language, gettext, territory_names
from services.storefront.translation import gettext_noop as _
from shared.addresses import PARTS, country_names, form_of, region_name

NAME: Final = Field("name", _("Name"), autocomplete="name", max_length=100, help=_("Who receives it."))
DEFAULT: Final = Field("default", _("Deliver here unless I say otherwise"), "check", required=False)
_COMPANY: Final = Field("company", _("Company"), required=False, autocomplete="organization")
_LINE1: Final = Field("line1", _("Street and number"), autocomplete="address-line1")
_LINE2: Final = Field("line2", _("Flat, floor, building"), required=False, autocomplete="address-line2")
_PHONE: Final = Field("phone", _("Phone"), "tel", required=False, autocomplete="tel", max_length=40)
_TEXT: Final = "address"


def address_form(
    country: str, countries: Sequence[str], *, email: bool = False, default: bool = False
) -> Form:
    """A form for an address in `country`, which can be one of `countries`; every country when none is named."""
    first = (EMAIL,) if email else ()
    last = (DEFAULT,) if default else ()
    fields = (
        *first,
        NAME,
        _country(country, countries),
        _COMPANY,
        _LINE1,
        _LINE2,
        *_places(country),
        _PHONE,
        *last,
    )
    return Form(fields, {"country": country})


def any_address_form(countries: Sequence[str]) -> Form:
    """A form for an address in whichever country, to be filled in without the shop: what is missing or wrong it says later."""
    city = Field("city", _("Town or city"), autocomplete="address-level2", required=False, max_length=100)
    region = Field("region", _("Region"), autocomplete="address-level1", required=False, max_length=100)
    postcode = Field("postcode", _("Postcode"), autocomplete="postal-code", required=False, max_length=20)
    fields = (
        NAME,
        _country("", countries),
        _COMPANY,
        _LINE1,
        _LINE2,
        city,
        region,
        postcode,
        _PHONE,
        DEFAULT,
    )
    return Form(fields)


def region_text(place: Mapping[str, Any]) -> str:
    """The region of {country, region} as readers of the page's language can read it."""
    script = get_global("likely_subtags").get(active_language().locale.language, "_Latn")
    region = str(place["region"])
    return region_name(place["country"], region) if "_Latn" in script else region


def is_text(sent: Mapping[str, str]) -> bool:
    """Whether a form of the last version was sent, whose address is one text."""
    return bool(sent.get(_TEXT)) and not sent.get("line1")


def parts_of(values: Mapping[str, str]) -> dict[str, str]:
    """The address of a form as the services take it."""
    if is_text(values):
        return {"name": values.get("name", "")[:100], "address": values[_TEXT][:500]}
    return {name: values[name] for name in ("name", *PARTS) if values.get(name)}


def read(form: Form, sent: Mapping[str, str]) -> Form:
    """Takes over what was sent; of a form of the last version only whose address it is."""
    if not is_text(sent):
        return form.read(sent)
    Form(
        tuple(field for field in form.fields if field.name in ("email", "name")), form.values, form.errors
    ).read(sent)
    form.values |= {_TEXT: sent[_TEXT], "default": sent.get("default", "")}
    return form


def country_of(values: Mapping[str, Any], own: str) -> str:
    """The country of a form or an address; the shop's own where it has none."""
    chosen = str(values.get("country") or "")
    return chosen if form_of(chosen) else own


def _country(country: str, countries: Sequence[str]) -> Field:
    names = territory_names(country_names())
    offered = {code: names[code] for code in names if not countries or code in {*countries, country}}
    unknown = () if country else (("", _("Choose one")),)
    return Field(
        "country", _("Country"), "select", autocomplete="country", options=(*unknown, *offered.items())
    )


def _places(country: str) -> tuple[Field, ...]:
    form = form_of(country)
    if form is None:
        return ()
    made = {
        "city": Field("city", _("Town or city"), autocomplete="address-level2", max_length=100),
        "region": Field(
            "region",
            gettext(form.region_label),
            "select" if form.regions else "text",
            autocomplete="address-level1",
            max_length=100,
            options=(("", _("Choose one")), *form.regions) if form.regions else (),
        ),
        "postcode": Field(
            "postcode",
            gettext(form.postcode_label),
            autocomplete="postal-code",
            max_length=20,
            help=gettext("Such as %(example)s.", example=form.example) if form.example else "",
        ),
    }
    return tuple(_as_required(made[name], name in form.required) for name in form.order if name in made)


def _as_required(field: Field, required: bool) -> Field:
    return replace(field, required=required)
