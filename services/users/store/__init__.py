"""The users database: the only room that queries, one method per access pattern."""

from services.users.store.users import UserStore

__all__ = ["UserStore"]
