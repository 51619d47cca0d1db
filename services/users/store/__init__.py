"""The users database and what lies in Redis: the only room that queries, one method per access pattern."""

from services.users.store.recently_viewed import RecentlyViewed
from services.users.store.users import UserStore

__all__ = ["RecentlyViewed", "UserStore"]
