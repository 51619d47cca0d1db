"""Jobs of the users service: what expires, what was left half done, what replicas wrote apart. Each may run any number of times."""

from services.users.actions.conflicts import settle_conflicts
from services.users.actions.privacy import finish_erasures
from services.users.actions.sessions import remove_expired

__all__ = ["finish_erasures", "remove_expired", "settle_conflicts"]
