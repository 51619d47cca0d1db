"""How a service opens its database server, from its settings, and a command of the operator, from the environment."""

from collections.abc import Mapping
from typing import Final

from shared.couch import Server
from shared.settings import BadSettings, DatabaseSettings

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


def server_of(environment: Mapping[str, str], timeout: float) -> Server:
    """The same for a command of the operator, which has no other settings. Raises BadSettings when it is told of none."""
    if not environment.get("COUCH_URL"):
        raise BadSettings(
            "COUCH_URL is not set: the database server's address, like http://name:password@host:5984."
        )
    return Server(
        environment["COUCH_URL"],
        username=environment.get("COUCH_USERNAME", ""),
        password=environment.get("COUCH_PASSWORD", ""),
        apikey=environment.get("COUCH_APIKEY", ""),
        prefix=environment.get("DATABASE_PREFIX", ""),
        timeout=timeout,
    )
