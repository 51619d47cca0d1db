"""A setting of which several revisions are left: by a replica that died while it wrote, or by two that were edited apart and replicated.

The revision that was edited most often stays, of equals the one that was saved last: what staff see after they saved is what holds, and no
operator decides. What gives way is kept among the versions (`superseded`), and an entry of the audit trail names both.
"""

from collections.abc import Sequence
from typing import Any, Final

from services.orders.actions.promotions import PROMOTIONS
from services.orders.actions.shop_settings import SHIPPING_METHODS, SHOP_KIND, TAX_RATES
from services.orders.dependencies import Dependencies
from services.orders.shop_settings import PARTITION
from shared.audit import Act, AuditTrail
from shared.cache_tags import TERMS
from shared.couch import Doc, Document

ACTOR: Final = "worker"
ACTION: Final = "settle setting"
_KINDS: Final = {kind.type.name: kind for kind in (SHIPPING_METHODS, TAX_RATES, PROMOTIONS, SHOP_KIND)}


def is_setting(doc: Document) -> bool:
    return doc["type"] in _KINDS


def settle(deps: Dependencies, leaves: Sequence[Doc]) -> int:
    """`leaves`: the revisions of one document, a setting or a kept version of one. How many went. May be repeated."""
    stays, *going = sorted(leaves, key=_rank, reverse=True)
    docid = stays["_id"]
    details: dict[str, Any] = {
        "kept": _summary(stays),
        "superseded": [_summary(leaf) for leaf in going],
    }
    subject = docid.partition(":")[2]
    AuditTrail(deps.orders.database).write(Act(ACTOR, ACTION, subject, details))
    for leaf in going:
        deps.shop_settings.supersede(leaf, stays)
    if docid.startswith(f"{PARTITION}:"):
        deps.terms_cache.changed()
        deps.cache_tags.invalidate([TERMS])
        kind = _KINDS[stays["type"]]
        kind.finish(deps, stays.get("id", ""), kind.fields.content(stays))
    return len(going)


def _rank(leaf: Doc) -> tuple[int, str, str]:
    return leaf["version"], leaf["edited"], leaf["_rev"]


def _summary(leaf: Doc) -> str:
    return f"version {leaf['version']} of {leaf['edited']} by {leaf['edited_by']}"
