"""What the services name in code, in a shopkeeper's words: jobs, entries of the audit trail."""

from collections.abc import Mapping, Sequence
from typing import Any

from services.storefront.translation import gettext, ngettext

_JOBS = {
    "orders.advance": "Moving an order on: dispatch, delivery, refunds, e-mails",
    "orders.report": "Working out a report",
    "orders.close_periods": "Closing a period",
    "orders.close_books": "Closing a period",
}
_ACTIONS = {
    "set roles": "Changed the role",
    "set group": "Changed the customer group",
    "close account": "Closed the account",
    "open account": "Opened the account again",
    "erase": "Erased the account",
}
_DETAILS = {"before": "Role before", "after": "Role now", "reason": "Why", "code": "Because"}
_GROUP_DETAILS = {"before": "Group before", "after": "Group now"}
_FAILED = ": failed"


def days_text(days: Mapping[str, int]) -> str:
    """How long a delivery takes: 2 to 4 days."""
    first, last = days["min"], days["max"]
    if first == last:
        return ngettext("%(num)s day", "%(num)s days", last) if last else gettext("today")
    return gettext("%(first)s to %(last)s days", first=first, last=last)


def job_label(job: str) -> str:
    return _JOBS.get(job, job.partition(".")[2].replace("_", " ").capitalize() or job)


def action_label(action: str) -> str:
    """ "set roles: failed" -> "Changed the role: it did not work" """
    known = _ACTIONS.get(action.removesuffix(_FAILED), action.removesuffix(_FAILED).capitalize())
    return f"{known}: it did not work" if action.endswith(_FAILED) else known


def details(entry: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(what, value) of an audit entry's details; what is empty is left out."""
    is_group = entry["action"].removesuffix(_FAILED) == "set group"
    labels = _DETAILS | (_GROUP_DETAILS if is_group else {})
    named = (
        (labels.get(name, name.replace("_", " ").capitalize()), str(value) if is_group else _text(value))
        for name, value in entry["details"].items()
    )
    return [(name, value) for name, value in named if value]


def _text(value: object) -> str:
    if isinstance(value, str):
        return value.replace("_", " ") if value.islower() and " " not in value else value
    if isinstance(value, Sequence):
        return ", ".join(_role(str(each)) for each in value if each != "customer") or (
            "Customer" if value else ""
        )
    return "" if value is None else str(value)


def _role(role: str) -> str:
    return role.capitalize()
