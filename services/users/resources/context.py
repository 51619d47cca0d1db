"""What the handlers of the running service act with."""

from collections.abc import Mapping
from typing import Any

from services.users.dependencies import Dependencies
from shared.web import current_dependencies, current_user


def dependencies() -> Dependencies:
    return current_dependencies(Dependencies)


def own_userid(_: Mapping[str, Any]) -> str:
    """The subject, in the audit trail, of what staff do to their own account."""
    return current_user().userid


def actor() -> str:
    """The user of the request, as documents name who did something."""
    return f"user {current_user().userid}"
