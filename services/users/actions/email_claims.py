"""Whose an e-mail is. A claim document, whose `_id` is made of the e-mail, makes it unique; CouchDB has no other means.

The userid of a new account is made of its e-mail, too (with the shop's secret key, so that nobody else can): all who
register one address at the same time mean one and the same `user{userid}:auth`, even on a cluster that accepts two
first writes. A crash between claim and account leaves nothing that the next registration does not simply go on with.
A claim whose account has left the e-mail is taken over once it is a minute old.
"""

import base64
import hmac
from collections.abc import Mapping, Sequence
from datetime import timedelta

from services.users.declarations.accounts import Account, Claim
from services.users.dependencies import Dependencies
from services.users.documents import CLAIM, USER, auth_id, claim_id
from services.users.rules.accounts import is_live
from services.users.rules.errors import EmailTaken
from shared.clock import now, parse, timestamp
from shared.couch import quorum
from shared.errors import Unavailable

_TAKEOVER_AFTER = timedelta(seconds=60)
_BATCH = 4


def userid_for_new_account(deps: Dependencies, email: str) -> tuple[str, Account | None]:
    """The userid that an account of this e-mail gets, and the account that has the e-mail there already. 1 read.

    Erased accounts, and those that moved to another e-mail, keep their userid, so a later account gets the next one.
    """
    first = 0
    while True:
        userids = [_userid(deps.settings.secret_key, email, first + number) for number in range(_BATCH)]
        found = deps.store.get_many([auth_id(userid) for userid in userids])
        for userid in userids:
            account = USER.typed(found.get(auth_id(userid)))
            if account is None or still_owns(account, email):
                return userid, account
        first += _BATCH


def userids_for_new_accounts(deps: Dependencies, emails: Sequence[str]) -> dict[str, tuple[str, bool]]:
    """Of each e-mail the userid that a new account of it gets, and whether an account has it already, its own or one that moved to it.

    1 read, and 1 more for e-mails that accounts with other userids hold, or whose userids are used up.
    """
    ids = {email: [_userid(deps.settings.secret_key, email, n) for n in range(_BATCH)] for email in emails}
    wanted = [auth_id(userid) for userids in ids.values() for userid in userids]
    found = deps.store.get_many([*wanted, *map(claim_id, emails)])
    claims = {email: CLAIM.typed(found.get(claim_id(email))) for email in emails}
    others = [
        auth_id(each["userid"]) for each in claims.values() if each and auth_id(each["userid"]) not in found
    ]
    found |= deps.store.get_many(others)
    answer: dict[str, tuple[str, bool]] = {}
    for email, userids in ids.items():
        accounts = {userid: USER.typed(found.get(auth_id(userid))) for userid in userids}
        own = next((each for each in accounts.values() if each and still_owns(each, email)), None)
        claim = claims[email]
        owner = USER.typed(found.get(auth_id(claim["userid"]))) if claim else None
        is_taken = own is not None or (owner is not None and still_owns(owner, email))
        free = next((userid for userid, account in accounts.items() if account is None), None)
        answer[email] = (free or userid_for_new_account(deps, email)[0], is_taken)
    return answer


def claim_for_new_accounts(deps: Dependencies, userids: Mapping[str, str]) -> dict[str, EmailTaken]:
    """`claim_for_new_account` for many, userids by e-mail: the refusals by e-mail. 1 write, and more for claims that are there."""
    claims = [
        CLAIM.build(claim_id(email), userid=userid, claimed=timestamp()) for email, userid in userids.items()
    ]
    written = deps.store.put_many(claims) if claims else []
    if quorum.take_back_unsure(deps.store.database, written):
        raise Unavailable("Too few database nodes answer to give an e-mail safely; try again.", retry_after=2)
    refused: dict[str, EmailTaken] = {}
    for email, row in zip(userids, written, strict=True):
        if row.error:
            try:
                claim_for_new_account(deps, email, userids[email])
            except EmailTaken as error:
                refused[email] = error
    return refused


def claim_for_new_account(deps: Dependencies, email: str, userid: str) -> None:
    """Makes the e-mail belong to an account that is to be made. Raises EmailTaken."""
    claim = CLAIM.build(claim_id(email), userid=userid, claimed=timestamp())
    if deps.store.try_put(claim, exclusive=True):
        return
    found = CLAIM.typed(deps.store.get(claim["_id"]))
    if found is None:
        raise EmailTaken("This e-mail is just being released; try again.")
    if found["userid"] != userid and not _taken_over(deps, found, email, userid):
        raise EmailTaken("Log in, or ask for a new password.")


def claim_for_account(deps: Dependencies, email: str, userid: str) -> bool:
    """Makes the e-mail belong to an account that exists, if it can; whether it does now."""
    claim = CLAIM.build(claim_id(email), userid=userid, claimed=timestamp())
    if deps.store.try_put(claim, exclusive=True):
        return True
    found = CLAIM.typed(deps.store.get(claim["_id"]))
    return found is not None and (found["userid"] == userid or _taken_over(deps, found, email, userid))


def release_email(deps: Dependencies, email: str, userid: str) -> None:
    """Frees an e-mail that this account held; may be repeated."""
    claim = deps.store.get(claim_id(email))
    if claim is not None and claim["userid"] == userid:
        deps.store.delete(claim)


def account_of(deps: Dependencies, email: str) -> Account | None:
    """The live account behind a normalised e-mail, verified or not, by its claim. Always 2 reads: the time tells nothing."""
    claim = deps.store.get(claim_id(email))
    user = deps.store.user(claim["userid"] if claim else "nobody")
    return user if user is not None and is_live(user) and user["email"] == email else None


def check_available(deps: Dependencies, email: str, userid: str) -> None:
    """Raises EmailTaken when another account has the e-mail."""
    claim = deps.store.get(claim_id(email))
    owner = deps.store.user(claim["userid"]) if claim else None
    if owner is not None and owner["userid"] != userid and still_owns(owner, email):
        raise EmailTaken("Another account uses this e-mail.")


def still_owns(owner: Account, email: str) -> bool:
    """Whether an account has this e-mail, or is about to."""
    return not owner.get("erasure") and email in (owner["email"], owner.get("pending_email"))


def _taken_over(deps: Dependencies, claim: Claim, email: str, userid: str) -> bool:
    """Whether an abandoned claim could be made this account's."""
    owner = deps.store.user(claim["userid"])
    fresh = parse(claim["claimed"]) > now() - _TAKEOVER_AFTER
    if owner is not None and (fresh or still_owns(owner, email)):
        return False
    return deps.store.try_put({**claim, "userid": userid, "claimed": timestamp()}, exclusive=True)


def _userid(secret_key: str, email: str, number: int) -> str:
    digest = hmac.digest(secret_key.encode(), f"aisle userid\n{email}\n{number}".encode(), "sha256")
    return base64.b32encode(digest)[:26].decode().lower()
