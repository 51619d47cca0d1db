"""The one way a service opens its database server: from its settings."""

from typing import Final

from shared.couch import Server
from shared.settings import DatabaseSettings

TIMEOUT: Final = 2.5
"""Seconds that a database call of a request may take, its retries included."""

LONG_TIMEOUT: Final = 60.0
"""The same for imports and jobs, which wait for indexes where a visitor would be answered without them."""


def open_server(settings: DatabaseSettings, timeout: float = TIMEOUT) -> Server:
    """The database server of the settings; no connection is made."""
    return Server(
        settings.couch_url,
        username=settings.couch_username,
        password=settings.couch_password,
        apikey=settings.couch_apikey,
        prefix=settings.database_prefix,
        timeout=timeout,
    )
