"""What the shop's people do to its settings: list, add, replace, look at earlier versions."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from services.orders.dependencies import Dependencies
from services.orders.rules.daily_figures import MAX_ADDRESSES, addresses_of, zone_of
from services.orders.shop_settings import (
    MAX_OF_A_KIND,
    SHIPPING_METHOD,
    SHIPPING_METHOD_FIELDS,
    SHIPPING_METHOD_TYPE,
    SHOP,
    SHOP_FIELDS,
    SHOP_SETTINGS_TYPE,
    TAX_RATE,
    TAX_RATE_FIELDS,
    TAX_RATE_TYPE,
    setting_id,
    tax_rate_id,
)
from shared.addresses import country_names
from shared.cache_tags import TERMS
from shared.clock import timestamp
from shared.couch import Doc, DocumentType, UpdateConflict
from shared.errors import Conflict, Invalid, NotFound
from shared.fields import Declaration

Problems = Iterator[tuple[str, str]]
Step = Callable[[Dependencies, str, Doc], None]


class NoSuchSetting(NotFound):
    code, title = "no_such_setting", "There is no such setting"


class SettingExists(Conflict):
    code, title = "setting_exists", "There is one already"


class TooManySettings(Conflict):
    code, title = "too_many_settings", "There are too many of this kind"


@dataclass(frozen=True)
class SettingKind:
    """`id_of` is what a document is found by (None: the server gives it an id); `problems` what no field alone can check.

    `normalize` makes of what was sent what is kept; `prepare` is done before a version is written, `finish` after it.
    """

    name: str
    type: DocumentType
    fields: Declaration
    id_of: Callable[[Doc], str] | None
    problems: Callable[[Doc], Problems]
    normalize: Callable[[Doc], Doc] = lambda content: content
    prepare: Step = lambda deps, id, content: None
    finish: Step = lambda deps, id, content: None


def settings(deps: Dependencies, kind: SettingKind) -> list[Doc]:
    """All of a kind, by id. 1 partition query."""
    return deps.shop_settings.all(f"{kind.name}.")


def get(deps: Dependencies, kind: SettingKind, id: str = "") -> Doc:
    """1 read. Raises NoSuchSetting."""
    doc = deps.shop_settings.get(setting_id(kind.name, id))
    if doc is None:
        raise NoSuchSetting(f"There is no {kind.name} {id}.")
    return doc


def versions(deps: Dependencies, kind: SettingKind, id: str = "") -> list[Doc]:
    """Every version, the latest first: 1 read and 1 partition query."""
    doc = get(deps, kind, id)
    return [doc, *deps.shop_settings.versions(doc["_id"])]


def add(
    deps: Dependencies, kind: SettingKind, content: Doc, actor: str, key: str, *, repeatable: bool
) -> Doc:
    """A new one; of a kind without an id of its own by this `key`. A `repeatable` request may have written it before, when its answer was lost.
    Raises Invalid, SettingExists, TooManySettings."""
    id = kind.id_of(content) if kind.id_of else key
    there = settings(deps, kind)
    if len(there) >= MAX_OF_A_KIND and all(doc["id"] != id for doc in there):
        raise TooManySettings(f"There may be {MAX_OF_A_KIND}.")
    try:
        return _write(deps, kind, id, content, actor, None)
    except UpdateConflict:
        known = deps.shop_settings.get(setting_id(kind.name, id))
        if not (repeatable and known and _is_first_version(kind, known, content, actor)):
            raise SettingExists(f"There is {id} already; PUT replaces it.") from None
    _announce(deps, kind, known, kind.normalize(content))
    return known


def _is_first_version(kind: SettingKind, doc: Doc, content: Doc, actor: str) -> bool:
    """Whether this is what `actor` has added with this content, and nobody has changed since."""
    written = kind.fields.are_stored_in(doc, {**kind.normalize(content), "id": doc["id"]})
    return written and (doc["version"], doc["edited_by"]) == (1, actor)


def replace(deps: Dependencies, kind: SettingKind, before: Doc, content: Doc, actor: str) -> Doc:
    """New content over `before`, which is kept. Raises Invalid, and UpdateConflict when somebody else was quicker."""
    if kind.id_of and kind.id_of(content) != kind.id_of(before):
        raise Invalid(
            "What it is for cannot change.",
            errors={"id": [f"This would be {kind.id_of(content)}: add that, and make this one inactive."]},
        )
    return _write(deps, kind, before["id"], content, actor, before)


def save_shop(deps: Dependencies, content: Doc, before: Doc | None, actor: str) -> Doc:
    """The shop's own settings: the first version, or one over `before`. Raises Invalid, UpdateConflict."""
    if (logo := content.get("logo")) and logo != (before or {}).get("logo"):
        _check_picture(deps, logo)
    return _write(deps, SHOP_KIND, "", content, actor, before)


def shop(deps: Dependencies) -> Doc | None:
    """1 read."""
    return deps.shop_settings.get(setting_id(SHOP))


def _write(
    deps: Dependencies, kind: SettingKind, id: str, content: Doc, actor: str, before: Doc | None
) -> Doc:
    if problems := list(kind.problems(content)):
        raise Invalid(
            "Some fields do not fit together; see errors.",
            errors={name: [message] for name, message in problems},
        )
    content = kind.normalize(content)
    kind.prepare(deps, id, content)
    values = content | ({"id": id} if id else {})
    doc = kind.type.new(
        setting_id(kind.name, id),
        version=before["version"] + 1 if before else 1,
        edited=timestamp(),
        edited_by=actor,
        **kind.fields.stored(values),
    )
    written = deps.shop_settings.put(doc, before)
    _announce(deps, kind, written, content)
    return written


def _announce(deps: Dependencies, kind: SettingKind, written: Doc, content: Doc) -> None:
    """After a version was written: every process hears of it."""
    deps.terms_cache.changed(written)
    deps.cache_tags.invalidate([TERMS])
    kind.finish(deps, written.get("id", ""), content)


def _problems_of_method(content: Doc) -> Problems:
    if content["rate"] == "flat" and not content["prices"]:
        yield "prices", "A flat rate needs a price in at least one currency."
    if content["rate"] in ("weight", "value") and not content["bands"]:
        yield "bands", "Give at least one band, the first from 0."
    if content["rate"] == "carrier" and not content["provider"]:
        yield "provider", "Name the provider that is asked for the rate."
    if content["parcel_grams"] is not None and content["rate"] in ("value", "product"):
        yield "parcel_grams", "Several parcels have a price each of the rates flat, weight and carrier alone."
    shortest, longest = content["min_days"], content["max_days"]
    if (shortest is None) != (longest is None) or (longest is not None and shortest > longest):
        yield "min_days", "Give both min_days and max_days, the smaller one first."


def _check_provider(deps: Dependencies, id: str, content: Doc) -> None:
    """Raises Invalid for a rate provider that the services are not connected to."""
    known = ", ".join(deps.rate_providers) or "none"
    if content["rate"] == "carrier" and content["provider"] not in deps.rate_providers:
        raise Invalid(errors={"provider": [f"RATE_PROVIDERS names {known}."]})


def _check_picture(deps: Dependencies, id: str) -> None:
    """Raises Invalid for a picture that nobody uploaded."""
    try:
        deps.products.picture(id)
    except NotFound:
        raise Invalid(
            errors={"logo": ["There is no picture with this id: upload it first (POST /v1/pictures)."]}
        ) from None


def _problems_of_shop(content: Doc) -> Problems:
    try:
        if len(addresses_of(content.get("daily_figures_to", ""))) > MAX_ADDRESSES:
            yield "daily_figures_to", f"At most {MAX_ADDRESSES} addresses."
    except Invalid:
        yield "daily_figures_to", "Write each like name@example.com, a line each."
    try:
        zone_of(content.get("time_zone", ""))
    except Invalid as error:
        yield "time_zone", error.errors["time_zone"][0]
    origin = content.get("customs_origin", "")
    if origin and origin not in country_names():
        yield "customs_origin", f"There is no country {origin}."


def _no_problems(content: Doc) -> Problems:
    yield from ()


SHIPPING_METHODS: Final = SettingKind(
    SHIPPING_METHOD,
    SHIPPING_METHOD_TYPE,
    SHIPPING_METHOD_FIELDS,
    lambda content: str(content["id"]),
    _problems_of_method,
    prepare=_check_provider,
)
TAX_RATES: Final = SettingKind(
    TAX_RATE,
    TAX_RATE_TYPE,
    TAX_RATE_FIELDS,
    lambda content: tax_rate_id(TAX_RATE_FIELDS.content({"rate": 0, "id": "", **content})),
    _no_problems,
)
SHOP_KIND: Final = SettingKind(SHOP, SHOP_SETTINGS_TYPE, SHOP_FIELDS, None, _problems_of_shop)
