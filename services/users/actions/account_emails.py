"""The e-mails of an account at the desk: which went out, how each reads in a language, and one sent again.

A token lives in one e-mail alone: what is sent again has a new one, what is only looked at has none.
"""

from collections.abc import Callable
from typing import Any, Final

from services.users.actions import notifications
from services.users.actions.customers import documents_of
from services.users.actions.email_log import PREFIX, record, sent_answer
from services.users.actions.notifications import (
    ACCOUNT_EXISTS,
    CHANGE_OF_EMAIL,
    MOVE_REQUEST,
    MOVE_REQUESTED,
    NEW_PASSWORD,
    PASSWORD_CHANGE,
    PASSWORD_CHANGED,
    VERIFICATION,
    may_send_email,
    new_token,
)
from services.users.actions.stock_alerts import (
    STOCK_ALERT_EMAIL,
    STOCK_ALERT_QUESTION,
    news_email,
    question_email,
)
from services.users.declarations.accounts import Account
from services.users.declarations.customers import AccountEmail
from services.users.dependencies import Dependencies
from services.users.documents import ACCOUNT_EMAIL, STOCK_ALERT, USER, stock_alert_id
from services.users.rules.accounts import is_live
from services.users.rules.errors import NoSuchUser
from shared.clock import timestamp
from shared.errors import Conflict, NotFound, TooManyRequests
from shared.mail import Email
from shared.translation import language_active

KINDS: Final = (
    VERIFICATION,
    NEW_PASSWORD,
    CHANGE_OF_EMAIL,
    PASSWORD_CHANGE,
    MOVE_REQUEST,
    ACCOUNT_EXISTS,
    STOCK_ALERT_QUESTION,
    STOCK_ALERT_EMAIL,
)
NO_TOKEN: Final = "only-to-look-at"
"""Opens nothing."""
SAMPLE_SKU: Final = "SKU"


class NoSuchEmail(NotFound):
    code, title = "no_such_email", "There is no such e-mail"


class NotSentAgain(Conflict):
    code, title = "not_sent_again", "This e-mail is not sent again"


def emails_of(deps: Dependencies, userid: str) -> list[dict[str, Any]]:
    """What went out within a year, the latest first. 1 partition query. Raises NoSuchUser."""
    return sent_among(documents_of(deps, userid))


def sent_among(docs: list[Any]) -> list[dict[str, Any]]:
    sent = sorted(ACCOUNT_EMAIL.among(docs), key=lambda doc: (doc["date"], doc["_id"]), reverse=True)
    return [sent_answer(doc) for doc in sent]


def preview(deps: Dependencies, userid: str, kind: str, language: str = "") -> Email:
    """What it reads like in a language, or else in the customer's. Raises NoSuchUser, NoSuchEmail."""
    docs = documents_of(deps, userid)
    user = _present(USER.among(docs)[0])
    if kind not in KINDS:
        raise NoSuchEmail(f"There is no e-mail {kind}: one of {', '.join(KINDS)}.")
    with language_active(deps.language(language or user.get("language", ""))):
        if kind in (STOCK_ALERT_EMAIL, STOCK_ALERT_QUESTION):
            return _stock_alert(deps, user, kind, docs)
        return _composers(deps, user)[kind](NO_TOKEN)


def send_again(deps: Dependencies, userid: str, kind: str, actor: str, id: str | None) -> dict[str, Any]:
    """With a new token, by the rules of the customer's own request; the same `id` is sent once.

    Raises NoSuchUser, NoSuchEmail, NotSentAgain for what says what happened once, TooManyRequests.
    """
    if kind not in KINDS:
        raise NoSuchEmail(f"There is no e-mail {kind}: one of {', '.join(KINDS)}.")
    docs = documents_of(deps, userid)
    user = _present(USER.among(docs)[0])
    if known := [doc for doc in ACCOUNT_EMAIL.among(docs) if id and doc["_id"].endswith(f":{PREFIX}{id}")]:
        return sent_answer(known[0])
    purpose, address = _purpose(user, kind)
    if not may_send_email(deps, address):
        raise TooManyRequests("This address got too many e-mails within an hour.", retry_after=3600)
    token, text = new_token(deps, userid, purpose, address)
    deps.store.put(token)
    with language_active(deps.language(user.get("language", ""))):
        email = _composers(deps, user)[kind](text)
    deps.mailer.send(email)
    return sent_answer(record(deps, userid, kind, by=actor, id=id or ""))


def _present(user: Account) -> Account:
    """Raises NoSuchUser for an erased account."""
    if user.get("erasure"):
        raise NoSuchUser("The account was erased.")
    return user


def _purpose(user: Account, kind: str) -> tuple[str, str]:
    """What the token of this e-mail is for, and where it goes. Raises NotSentAgain."""
    if not is_live(user):
        raise NotSentAgain("The account is closed: open it first.")
    if kind == NEW_PASSWORD:
        return notifications.RESET, user["email"]
    if kind == VERIFICATION and not user["email_verified"]:
        return notifications.VERIFY, user["email"]
    if kind == CHANGE_OF_EMAIL and (pending := user.get("pending_email")):
        return notifications.CHANGE_EMAIL, pending
    raise NotSentAgain(_REASONS.get(kind, "It says what happened once, and is not sent again."))


_REASONS: Final = {
    VERIFICATION: "The e-mail address is confirmed already.",
    CHANGE_OF_EMAIL: "The customer has not asked for another e-mail address.",
}


def _composers(deps: Dependencies, user: Account) -> dict[str, Callable[[str], Email]]:
    """By kind, each taking the token of its link."""
    name, email = user["name"], user["email"]
    changed = notifications.changed_email
    return {
        VERIFICATION: lambda token: notifications.verification_email(deps, email, token),
        NEW_PASSWORD: lambda token: notifications.reset_email(deps, name, email, token),
        CHANGE_OF_EMAIL: lambda token: notifications.change_of_email(
            deps, user.get("pending_email") or email, token
        ),
        PASSWORD_CHANGE: lambda _: changed(deps, name, email, PASSWORD_CHANGED),
        MOVE_REQUEST: lambda _: changed(deps, name, email, MOVE_REQUESTED),
        ACCOUNT_EXISTS: lambda _: notifications.account_exists_email(deps, email),
    }


def _stock_alert(deps: Dependencies, user: Account, kind: str, docs: list[Any]) -> Email:
    """Of what the last one was about, as the shop names it now; of a sample where there was none."""
    sent: list[AccountEmail] = [doc for doc in ACCOUNT_EMAIL.among(docs) if doc.get("sku")]
    sku = max(sent, key=lambda doc: doc["date"])["sku"] if sent else SAMPLE_SKU
    found = deps.products.lookup([sku]) if sent else {}
    alert = STOCK_ALERT.build(
        stock_alert_id(sku, user["email"]), sku=sku, email=user["email"], requested=timestamp()
    )
    compose = news_email if kind == STOCK_ALERT_EMAIL else question_email
    return compose(deps, alert, found.get(sku, {"name": sku}), NO_TOKEN)
