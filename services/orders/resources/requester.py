"""Who sent a request: what several handlers of this service need to know."""

from services.orders.actions.reading import Reader
from shared.web import current_user, optional_user


def reader(token: str = "") -> Reader:
    """The user of the request, or the holder of a guest's token."""
    user = optional_user()
    return Reader(user.userid, user.roles, token) if user else Reader(token=token)


def actor() -> str:
    """The user of the request, as documents name who did something."""
    return f"user {current_user().userid}"
