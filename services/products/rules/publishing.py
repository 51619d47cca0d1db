"""Which products the shop shows: those that are active and whose time has come."""

from collections.abc import Mapping
from typing import Any, Final, cast

from services.products.declarations.limits import ACTIVE, DRAFT, SCHEDULED
from services.products.declarations.product import Product
from shared.couch import Doc

_DEFAULTS: Final[dict[str, Any]] = {
    "status": ACTIVE,
    "publish_from": "",
    "related": [],
    "translations": {},
    "customs": {},
}


def status_of(doc: Mapping[str, Any]) -> str:
    return str(doc.get("status") or ACTIVE)


def is_public(doc: Mapping[str, Any]) -> bool:
    """Whether everybody may see it."""
    return "hidden" not in doc


def hidden_fields(content: Mapping[str, Any], moment: str) -> dict[str, str]:
    """Why a product that is written at this moment with this content is not shown, as its document says so; nothing when it is.

    A draft whose time is over was made a draft after it was shown: it stays one.
    """
    status = status_of(content)
    later = (content.get("publish_from") or "") > moment
    if status in (ACTIVE, DRAFT) and later:
        return {"hidden": SCHEDULED}
    return {} if status == ACTIVE else {"hidden": status}


def keep_unsaid(content: Doc, before: Mapping[str, Any] | None) -> Doc:
    """The content with the status, time and related products that the product has, where a client did not say them (None)."""
    known = before or {}
    return content | {
        name: known.get(name, default) for name, default in _DEFAULTS.items() if content[name] is None
    }


def published(doc: Product, moment: str) -> Product:
    """A scheduled product from when its time has come."""
    kept = {name: value for name, value in doc.items() if name not in ("hidden", "status")}
    return cast(Product, kept | {"edited": moment})


def words_of(doc: Mapping[str, Any]) -> list[str]:
    """What staff find a product by, as `views/unpublished.js` has it: words of its name and brand, its id and SKUs."""
    skus = [variant["sku"] for variant in doc.get("variants", ())]
    return " ".join([doc["name"], doc.get("brand", ""), doc["productid"], *skus]).lower().split()
