"""Promotions at the desk: a code belongs to one of them, and there are as many slots for its uses as its limit allows."""

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from services.orders.actions.shop_settings import Problems, SettingKind
from services.orders.declarations.promotions import CodeClaim
from services.orders.dependencies import Dependencies
from services.orders.promotion_settings import PROMOTION_CODE, PROMOTION_FIELDS, PROMOTION_TYPE
from services.orders.rules.pricing import Terms, normalized, with_promotions
from services.orders.shop_settings import PROMOTION, setting_id
from shared.clock import now, parse
from shared.couch import Doc
from shared.errors import Conflict

FIRST_SLOTS: Final = 100
"""Made with the promotion; of a larger limit the others follow when they are needed."""
CLAIM_SECONDS: Final = 60
"""Within so long whoever claims a code has written its promotion."""
_CAN_BE_CODE: Final = re.compile(PROMOTION_CODE)


class CodeTaken(Conflict):
    code, title = "code_taken", "Another promotion has this code"


def with_typed_codes(deps: Dependencies, terms: Terms, codes: Sequence[str]) -> Terms:
    """The terms, with the promotions of those codes that they lack and that were just made: on a cluster they are of one node's list. No call
    where there is one copy of each document, or they have all; otherwise 1 read for all that they lack, and 1 more for what has one."""
    unknown = {code for code in map(normalized, codes) if code not in terms.promotions.by_code}
    claims = deps.promotions.claims_behind_list(sorted(filter(_CAN_BE_CODE.fullmatch, unknown)))
    ids = sorted({setting_id(PROMOTION, claim["promotion"]) for claim in claims})
    return with_promotions(terms, deps.shop_settings.get_many(ids)) if ids else terms


def used_of(deps: Dependencies, id: str) -> int:
    """How many orders hold a use of a promotion with a limit. 1 partition query."""
    return sum(not use["free"] for use in deps.promotions.uses(id))


def limit_of(deps: Dependencies, id: str) -> int | None:
    """How often a promotion can be used, as its document says; None where that has no limit. 1 read."""
    found = deps.shop_settings.get(setting_id(PROMOTION, id))
    return PROMOTION_FIELDS.content(found)["limit"] if found else None


def add_slots(deps: Dependencies, id: str, limit: int) -> None:
    """As many more as are there, up to the limit: whoever else does so at the same time adds the same ones."""
    there = {use["number"] for use in deps.promotions.uses(id)}
    wanted = min(limit, max(FIRST_SLOTS, 2 * len(there))) - len(there)
    missing = (number for number in range(1, limit + 1) if number not in there)
    deps.promotions.add_slots(id, [number for number, _ in zip(missing, range(wanted), strict=False)])


def settle_claims(deps: Dependencies, claims: Sequence[CodeClaim]) -> int:
    """Of several revisions of a claim that of a promotion which has the code stays, else the first; how many went."""
    stays = min(claims, key=lambda claim: (_can_be_taken(deps, claim), claim["date"], claim["_rev"]))
    going = [claim for claim in claims if claim is not stays]
    for claim in going:
        deps.orders.remove_revision(claim["_id"], claim["_rev"])
    return len(going)


def _prepare(deps: Dependencies, id: str, content: Doc) -> None:
    """Before it holds: its codes are its own, and there are slots for the first uses. Raises CodeTaken."""
    for code in content["codes"] if content["active"] else ():
        if other := deps.promotions.claim_code(code, id, lambda claim: _can_be_taken(deps, claim)):
            raise CodeTaken(f"{code} belongs to {_name(deps, other['promotion'])}: end that one first.")
    if content["limit"] and len(deps.promotions.uses(id)) < min(content["limit"], FIRST_SLOTS):
        add_slots(deps, id, min(content["limit"], FIRST_SLOTS))


def _finish(deps: Dependencies, id: str, content: Doc) -> None:
    """A limit that is lower now leaves no more slots than it allows, unless more are used already."""
    limit = content["limit"]
    if limit is None:
        return
    uses = deps.promotions.uses(id)
    surplus = len(uses) - limit
    if surplus > 0:
        deps.promotions.remove([use for use in reversed(uses) if use["free"]][:surplus])


def _can_be_taken(deps: Dependencies, claim: CodeClaim) -> bool:
    """Whether its promotion has ended or given the code up, or was never written."""
    other = deps.shop_settings.get(setting_id(PROMOTION, claim["promotion"]))
    if other is None:
        return parse(claim["date"]) + timedelta(seconds=CLAIM_SECONDS) < now()
    content = PROMOTION_FIELDS.content(other)
    return not content["active"] or claim["code"] not in content["codes"]


def _name(deps: Dependencies, id: str) -> str:
    other = deps.shop_settings.get(setting_id(PROMOTION, id))
    return f"“{other['name']}”" if other else "a promotion that is being made"


def _normalize(content: Doc) -> Doc:
    return {**content, "codes": list(dict.fromkeys(map(normalized, content["codes"])))}


def _problems(content: Doc) -> Problems:
    conditions = content["conditions"]
    if content["from"] and content["to"] and content["from"] > content["to"]:
        yield "to", "It ends before it begins."
    for number, each in enumerate(conditions, 1):
        if not each.get(_NEEDED[each["kind"]], each["kind"] == "first_order"):
            yield "conditions", f"Entry {number}: {each['kind']} needs {_NEEDED[each['kind']]}."
    for kind in _repeated(content):
        yield "actions", f"There is more than one {kind}: make them one, or another promotion."
    for number, each in enumerate(content["actions"], 1):
        for needed in _NEEDED_BY_ACTION[each["kind"]]:
            if not each.get(needed):
                yield "actions", f"Entry {number}: {each['kind']} needs {needed}."


def _repeated(content: Doc) -> list[str]:
    """Kinds of actions of which there is more than one; of amounts one for each currency."""
    kinds = [
        f"{each['kind']} {(each.get('amount') or {}).get('currency', '')}".strip()
        for each in content["actions"]
    ]
    return sorted({kind for kind in kinds if kinds.count(kind) > 1})


_NEEDED: Final = {
    "categories": "categories",
    "products": "products",
    "groups": "groups",
    "minimum": "amount",
    "first_order": "",
}
_NEEDED_BY_ACTION: Final = {
    "percent": ("basis_points",),
    "amount": ("amount",),
    "buy_x_get_y": ("buy", "get"),
    "free_delivery": (),
}

PROMOTIONS: Final = SettingKind(
    PROMOTION,
    PROMOTION_TYPE,
    PROMOTION_FIELDS,
    None,
    _problems,
    normalize=_normalize,
    prepare=_prepare,
    finish=_finish,
)
