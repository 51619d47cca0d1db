"""How two versions of one document become one after replicas met: a rule for each type, order never matters.

| type | rule |
|---|---|
| any | what an erasure overwrote stays so |
| user | an erasure wins over everything, and frees every e-mail that either side had; else name of the latest change, password, e-mail, the e-mail asked for and roles each of its own latest change, on a tie the password that readers saw and the fewer rights; the later end of sessions |
| claim | of the accounts that have the e-mail (else of all) the earlier claim keeps it; another account must choose a new one |
| userdelivery, preferences, paymentmethod | the latest change; an address keeps the later `default_since` |
| seen | the latest view |
| basketline | the latest change, on a tie the larger quantity |
| session | two versions mean that a refresh token was used twice: the session ends |
| token | used if it was used anywhere |
| syncstate | the longer branch of each document, in a new epoch |
| syncpoint | the latest change |
| audit | never changes, so its versions are equal |
"""

from collections.abc import Sequence
from typing import Any

from services.users.documents import claim_id, is_blank
from services.users.rules.sync_revisions import united

Doc = dict[str, Any]

_METADATA = ("_rev", "_conflicts")


def merged(versions: Sequence[Doc]) -> Doc:
    """One document out of at least one version (all of one `_id`), without `_rev`; the same whatever their order."""
    ordered = sorted(versions, key=_age)
    blank = next((doc for doc in ordered if is_blank(doc)), None)
    rule = _RULES.get(ordered[-1]["type"])
    result = blank or (rule(ordered) if rule else ordered[-1])
    return {name: value for name, value in result.items() if name not in _METADATA}


def merged_claims(versions: Sequence[Doc], owners: set[str]) -> tuple[Doc, list[str]]:
    """The claim that stays, and who of the `owners` (userids whose account has this e-mail) loses it."""
    kept = merged([doc for doc in versions if doc["userid"] in owners] or versions)
    return kept, sorted({doc["userid"] for doc in versions} & owners - {kept["userid"]})


def _age(doc: Doc) -> tuple[str, str]:
    content = sorted((name, repr(value)) for name, value in doc.items() if name not in _METADATA)
    return doc.get("updated") or doc.get("claimed") or doc.get("used") or "", repr(content)


def _revision(doc: Doc) -> tuple[int, str]:
    """In the order by which CouchDB chooses the version that readers see."""
    number, _, digest = doc.get("_rev", "0-").partition("-")
    return int(number), digest


def _latest(versions: Sequence[Doc], since: str) -> list[Doc]:
    """The versions that share the newest value of `since`."""
    newest = max(doc.get(since) or "" for doc in versions)
    return [doc for doc in versions if (doc.get(since) or "") == newest]


def _user(versions: Sequence[Doc]) -> Doc:
    erased = [doc for doc in versions if doc.get("erasure")]
    if erased:
        kept = next((doc for doc in erased if doc["erasure"] == "started"), erased[-1])
        emails = {doc[name] for doc in versions for name in ("email", "pending_email") if doc.get(name)}
        claims = {claim for doc in erased for claim in doc.get("erasure_claims", ())}
        claims |= {claim_id(email) for email in emails}
        verified = [doc["email"] for doc in versions if doc.get("email_verified") and doc.get("email")]
        address = {"erasure_email": verified[-1]} if verified else {}
        return {**address, **kept, "erasure": "started", "erasure_claims": sorted(claims)} if claims else kept
    result = dict(versions[-1])
    passwords = _latest(versions, "password_changed")
    result["password"] = max(passwords[::-1], key=_revision)["password"]
    latest = _latest(versions, "email_changed")
    result["email"] = latest[-1]["email"]
    asked = _latest(versions, "pending_changed")[-1].get("pending_email")
    result["pending_email"] = asked if asked != result["email"] else None
    result["email_verified"] = any(doc["email_verified"] for doc in latest if doc["email"] == result["email"])
    rights = _latest(versions, "roles_changed")
    result["roles"] = [role for role in rights[-1]["roles"] if all(role in doc["roles"] for doc in rights)]
    result["active"] = all(doc["active"] for doc in rights)
    for name in (
        "password_changed",
        "email_changed",
        "pending_changed",
        "roles_changed",
        "sessions_from",
        "access_changed",
    ):
        newest = max(doc.get(name) or "" for doc in versions)
        if newest:
            result[name] = newest
    return result


def _claim(versions: Sequence[Doc]) -> Doc:
    return min(versions, key=lambda doc: (doc["claimed"], doc["userid"]))


def _address(versions: Sequence[Doc]) -> Doc:
    return {**versions[-1], "default_since": max(doc["default_since"] for doc in versions)}


def _basket_line(versions: Sequence[Doc]) -> Doc:
    return max(_latest(versions, "updated"), key=lambda doc: doc["quantity"])


def _session(versions: Sequence[Doc]) -> Doc:
    last = versions[-1]
    revoked = max([doc["revoked"] for doc in versions if doc.get("revoked")] or [last["updated"]])
    generation = max(doc["generation"] for doc in versions)
    return {**last, "generation": generation, "revoked": revoked, "reason": "two refreshes of one token"}


def _token(versions: Sequence[Doc]) -> Doc:
    used = [doc["used"] for doc in versions if doc.get("used")]
    return {**versions[-1], "used": min(used)} if used else versions[-1]


def _seen(versions: Sequence[Doc]) -> Doc:
    return _latest(versions, "viewed")[-1]


_RULES = {
    "user": _user,
    "claim": _claim,
    "userdelivery": _address,
    "basketline": _basket_line,
    "seen": _seen,
    "session": _session,
    "token": _token,
    "syncstate": united,
}
