"""Which e-mails about an account went out: what staff look up when somebody says that none came."""

import logging
from datetime import timedelta
from typing import Any, Final

from services.users.declarations.customers import ACCOUNT_EMAIL_FIELDS, CUSTOMER, AccountEmail
from services.users.dependencies import JobDependencies
from services.users.documents import ACCOUNT_EMAIL, user_document
from shared.clock import iso, now
from shared.couch import time_ordered_id
from shared.errors import AisleError

log = logging.getLogger(__name__)

PREFIX: Final = "email-"
KEPT: Final = timedelta(days=365)


def record(
    deps: JobDependencies, userid: str, kind: str, *, by: str = CUSTOMER, id: str = "", **more: str
) -> AccountEmail:
    """Notes for a year that an e-mail went out. 1 write. While the database is away it is logged: the e-mail is out already."""
    moment = now()
    sent = ACCOUNT_EMAIL.build(
        user_document(userid, f"{PREFIX}{id or time_ordered_id(moment)}"),
        userid=userid,
        kind=kind,
        date=iso(moment),
        by=by,
        expires=iso(moment + KEPT),
        **more,
    )
    try:
        deps.store.try_put(sent)
    except AisleError as error:
        log.warning("an e-mail that went out is not noted: %s", error)
    return sent


def sent_answer(doc: AccountEmail) -> dict[str, Any]:
    return {"id": doc["_id"].partition(f":{PREFIX}")[2], **ACCOUNT_EMAIL_FIELDS.shown(doc)}
