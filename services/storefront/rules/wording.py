"""What the services name in code, in a shopkeeper's words."""

from collections.abc import Mapping
from typing import Any

from services.storefront.translation import gettext, ngettext
from services.storefront.translation import gettext_noop as _

_JOBS = {
    "orders.advance": _("Moving an order on: dispatch, delivery, refunds, e-mails"),
    "orders.report": _("Working out a report"),
    "orders.archive_year": _("Archiving a year"),
    "orders.close_periods": _("Closing a period"),
    "orders.close_books": _("Closing a period"),
}
_ROLES = {"staff": _("Staff"), "admin": _("Admin"), "customer": _("Customer")}
_RULES = {"synonym": _("Synonym"), "redirect": _("Redirect"), "pin": _("Pin"), "hidden": _("Hidden query")}
_RULE_CHANGES = {"written": _("%(rule)s written"), "removed": _("%(rule)s removed")}
_CREDIT_REASONS = {
    "issued": _("Issued"),
    "granted": _("Granted"),
    "adjusted": _("Adjusted"),
    "spent": _("Spent"),
    "given_back": _("Given back"),
    "refunded": _("Refunded"),
    "closed": _("Closed"),
    "cancelled": _("Cancelled"),
}


def days_text(days: Mapping[str, int]) -> str:
    """How long a delivery takes: 2 to 4 days."""
    first, last = days["min"], days["max"]
    if first == last:
        return ngettext("%(num)s day", "%(num)s days", last) if last else gettext("today")
    return gettext("%(first)s to %(last)s days", first=first, last=last)


def job_label(job: str) -> str:
    known = _JOBS.get(job)
    return gettext(known) if known else job.partition(".")[2].replace("_", " ").capitalize() or job


def role_label(role: str) -> str:
    return gettext(_ROLES.get(role, role.capitalize()))


def search_change_label(change: Mapping[str, Any]) -> str:
    """Which kind of rule was changed how: "Synonym written"."""
    rule = gettext(_RULES.get(change["kind"], change["kind"].capitalize()))
    known = _RULE_CHANGES.get(change["action"])
    return gettext(known, rule=rule) if known else f"{rule} {change['action']}"


def credit_reason(reason: str) -> str:
    """Why the balance of a gift card or of store credit changed."""
    return gettext(_CREDIT_REASONS.get(reason, reason.replace("_", " ").capitalize()))
