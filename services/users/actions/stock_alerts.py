"""E-mails when a product is in stock again: asked for, confirmed by whoever has the address, sent once, ended by a link."""

import logging
import secrets
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, cast
from urllib.parse import quote, urlencode

from services.users.actions.accounts import BadToken
from services.users.actions.email_log import record
from services.users.actions.notifications import may_send_email
from services.users.dependencies import Dependencies, JobDependencies
from services.users.documents import STOCK_ALERT, StockAlert, stock_alert_id
from services.users.rules.errors import NoSuchProduct, VariantNeeded
from services.users.rules.stock_alerts import docid_of, token_of
from shared.clock import iso, now, parse
from shared.couch import DatabaseUnavailable, NoSuchDocument, UpdateConflict
from shared.emails import normalised_email
from shared.errors import Conflict, Unavailable
from shared.limits import Limit, network_of
from shared.mail import Email
from shared.translation import active_language, gettext, language_active

log = logging.getLogger(__name__)

STOCK_ALERT_EMAIL, STOCK_ALERT_QUESTION = "stock-alert", "stock-alert-question"
LOOKUP_SIZE = 200
REQUESTS_PER_HOUR = 30
_OF_A_CLAIM = ("sending", "sender")
RESEND_AFTER = timedelta(minutes=5)
"""A worker that began an e-mail so long ago has died."""


class InStock(Conflict):
    code, title = "in_stock", "It is in stock"


def request(deps: Dependencies, sku: str, email: str, userid: str | None, address: str) -> None:
    """Notes that somebody waits; their own confirmed address counts at once, any other is asked by an e-mail.

    Raises NoSuchProduct, VariantNeeded, InStock, TooManyRequests.
    """
    deps.limits.take([Limit("stock alert", network_of(address), REQUESTS_PER_HOUR, 3600)])
    offer = deps.products.lookup([sku]).get(sku)
    if offer is None:
        raise NoSuchProduct("The shop does not sell it (any more).")
    if offer.get("sku", sku) is None:
        raise VariantNeeded("It is sold by variant: say which by its SKU.")
    if offer["stock"] > 0:
        raise InStock("It can be bought now.")
    account = deps.store.user(userid) if userid else None
    email = normalised_email(email or (account["email"] if account else ""))
    is_own = account is not None and account["email_verified"] and account["email"] == email
    own = account["userid"] if is_own and account else ""
    alert = _requested(deps, sku, email, userid=own)
    if "confirmed" not in alert and may_send_email(deps, email):
        deps.mailer.send(question_email(deps, alert, offer, _token(deps, alert)))


def _requested(deps: Dependencies, sku: str, email: str, *, userid: str) -> StockAlert:
    """`userid`: of the account whose confirmed address it is; "" for any other address."""
    moment, docid, confirmed = now(), stock_alert_id(sku, email), bool(userid)
    alert = STOCK_ALERT.build(
        docid, sku=sku, email=email, requested=iso(moment), language=active_language().code
    )
    if confirmed:
        alert |= {"confirmed": iso(moment), "userid": userid}
    else:
        alert["expires"] = iso(moment + timedelta(hours=deps.settings.verify_token_hours))
    if deps.store.try_put(alert):
        return alert
    present = STOCK_ALERT.typed(deps.store.get(docid))
    if present is None or "confirmed" in present or not confirmed:
        return present or alert
    return _confirmed(deps, present)


def confirm(deps: Dependencies, token: str) -> str:
    """The address wants it: the SKU. Raises BadToken."""
    alert = _alert_of(deps, token)
    if alert is None:
        raise BadToken("This link is too old: ask for the e-mail again on the product's page.")
    return (alert if "confirmed" in alert else _confirmed(deps, alert))["sku"]


def cancel(deps: Dependencies, token: str) -> None:
    """Nothing more is sent; may be repeated. Raises BadToken."""
    while (alert := _alert_of(deps, token)) is not None:
        try:
            deps.store.delete(alert)
        except (UpdateConflict, NoSuchDocument):
            continue
        return


def notify(deps: JobDependencies, moment: datetime) -> int:
    """Sends what is due; how many e-mails. 1 global query, and 1 at products for LOOKUP_SIZE SKUs that somebody waits for."""
    skus, sent = deps.store.waited_for(), 0
    for first in range(0, len(skus), LOOKUP_SIZE):
        offers = deps.products.lookup(skus[first : first + LOOKUP_SIZE])
        for sku, offer in offers.items():
            if offer.get("for_sale", True) and (offer.get("stock") or 0) > 0:
                sent += sum(_send(deps, alert, offer, moment) for alert in deps.store.stock_alerts(sku))
    return sent


def _send(deps: JobDependencies, alert: StockAlert, offer: dict[str, Any], moment: datetime) -> bool:
    """Whether it went out now: it is claimed before, so that no two workers send it, and gone after."""
    begun = alert.get("sending")
    if "confirmed" not in alert or (begun and parse(begun) > moment - RESEND_AFTER):
        return False
    if begun and deps.store.was_removed(alert):
        _remove(deps, alert["_id"])
        return False
    claim = {**alert, "sending": iso(moment), "sender": secrets.token_hex(8)}
    try:
        claimed = deps.store.put(cast(StockAlert, claim), exclusive=True)
    except UpdateConflict:
        return False
    except DatabaseUnavailable as error:
        log.warning("a stock alert may be another worker's: %s", error)
        return False
    try:
        with language_active(deps.language(claimed.get("language", ""))):
            email = news_email(deps, claimed, offer, _token(deps, claimed))
        deps.direct_mailer.send(email)
    except (Unavailable, OSError) as error:
        log.warning("a stock alert waits for its next turn: %s", error)
        with suppress(UpdateConflict):
            deps.store.put(
                cast(StockAlert, {name: value for name, value in claimed.items() if name not in _OF_A_CLAIM})
            )
        return False
    _remove(deps, claimed["_id"])
    if userid := claimed.get("userid"):
        record(deps, userid, STOCK_ALERT_EMAIL, sku=claimed["sku"])
    return True


def _remove(deps: JobDependencies, docid: str) -> None:
    """What was sent, with the claims that a node of a cluster kept though the others refused them: one would be there again, and be sent.
    The customer may have ended it meanwhile."""
    with suppress(NoSuchDocument):
        present = deps.store.database.get(docid, conflicts=True)
        revisions = [present["_rev"], *present.get("_conflicts", [])]
        deps.store.put_many({"_id": docid, "_rev": rev, "_deleted": True} for rev in revisions)


def _confirmed(deps: Dependencies, alert: StockAlert) -> StockAlert:
    rest = {name: value for name, value in alert.items() if name != "expires"}
    try:
        return deps.store.put(cast(StockAlert, {**rest, "confirmed": iso(now())}))
    except UpdateConflict:
        return STOCK_ALERT.typed(deps.store.get(alert["_id"])) or alert


def _alert_of(deps: Dependencies, token: str) -> StockAlert | None:
    docid = docid_of(deps.settings.secret_key, token)
    if docid is None:
        raise BadToken("This is no link of ours.")
    return STOCK_ALERT.typed(deps.store.get(docid))


def question_email(deps: JobDependencies, alert: StockAlert, offer: dict[str, Any], token: str) -> Email:
    """In the active language. `token` is `_token`, or a text that opens nothing for who only looks at the e-mail."""
    text = gettext(
        "somebody, hopefully you, wants to know when %(product)s can be bought again. Please confirm it, and we send one e-mail then.",
        product=_named(offer),
    )
    ignored = gettext("If it was not you, ignore this e-mail: nothing is sent.")
    return deps.email(
        alert["email"],
        gettext("Shall we write when %(product)s is back?", product=_named(offer)),
        "\n\n".join([gettext("Hello,"), text, ignored]),
        page=_page(token, "confirm"),
        label=gettext("Yes, write to me"),
    )


def news_email(deps: JobDependencies, alert: StockAlert, offer: dict[str, Any], token: str) -> Email:
    """In the active language: that of the page on which it was asked for. `token` as above."""
    text = gettext(
        "%(product)s is in stock again, while it lasts. You asked us to write once, and we won't again.",
        product=_named(offer),
    )
    link = f"{deps.job_settings.storefront_url.rstrip('/')}{_page(token, 'cancel')}"
    return deps.email(
        alert["email"],
        gettext("%(product)s is back", product=_named(offer)),
        "\n\n".join([gettext("Hello,"), text]),
        closing=gettext("Not you? End it here: %(link)s", link=link),
        page=f"/product/{quote(alert['sku'], safe='')}",
        label=gettext("See it in the shop"),
        key=f"stock.{alert['_id'].partition(':')[2][:24]}.{alert['requested'].replace(':', '')}",
    )


def _named(offer: dict[str, Any]) -> str:
    options = ", ".join(offer.get("selected_options", {}).values())
    return f"{offer['name']} ({options})" if options else str(offer["name"])


def _token(deps: JobDependencies, alert: StockAlert) -> str:
    return token_of(deps.job_settings.secret_key, alert["_id"])


def _page(token: str, verb: str) -> str:
    return f"/stock-alerts/{verb}?{urlencode({'token': token})}"
