"""Settings: one frozen dataclass per service, one line per environment variable, read once in `app.py`.

`setting()` declares a variable, `load()` reads them all and names every missing, malformed or contradictory one at
once, `rows()` gives the rows of docs/settings.md. A secret has no default outside `AISLE_ENV=local`.
"""

import logging
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

log = logging.getLogger(__name__)

LOCAL = "local"
PRODUCTION = "production"


class BadSettings(Exception):
    """Raised at start: the message names every variable that is missing, malformed or contradicts another one."""


def setting(
    env: str,
    default: Any = MISSING,
    help: str = "",
    *,
    secret: bool = False,
    local_default: Any = MISSING,
    choices: Collection[str] = (),
) -> Any:
    """A dataclass field read from the environment variable `env`.

    Without `default` the variable must be set, except in local mode when there is a `local_default`.
    A secret is left out of the dataclass's repr. With `choices` no other value is taken; a field of type
    `tuple[str, ...]` is read from a comma-separated list.
    """
    metadata = {
        "env": env,
        "help": help,
        "secret": secret,
        "local_default": local_default,
        "choices": choices,
    }
    return field(default=default, repr=not secret, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class WebSettings:
    """What every process that answers HTTP reads."""

    env: str = setting("AISLE_ENV", PRODUCTION, "`local` allows the defaults meant for one laptop")
    redis_url: str = setting(
        "REDIS_URL", help="Redis: limits, idempotency keys, queue", local_default="redis://127.0.0.1:6379/0"
    )
    secret_key: str = setting(
        "SECRET_KEY",
        help="signs cursors, cookies and refresh tokens: a new one logs everybody out and loses nothing else",
        secret=True,
        local_default="local-secret-key",
    )
    service_secret: str = setting(
        "SERVICE_SECRET",
        help="what services show each other",
        secret=True,
        local_default="local-service-secret",
    )
    users_url: str = setting("USERS_URL", help="the users service", local_default="http://127.0.0.1:8001")
    session_check_seconds: float = setting(
        "SESSION_CHECK_SECONDS",
        15.0,
        "each process asks that often which sessions ended; for three times as long it trusts the last answer",
    )
    log_level: str = setting("LOG_LEVEL", "INFO", "level of the JSON log on standard output")
    access_log: bool = setting("ACCESS_LOG", True, "one JSON line per request on standard output")

    otlp_endpoint: str = setting(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "",
        "OpenTelemetry collector (`http://collector:4318`); empty: no traces",
    )
    trusted_proxies: int = setting("TRUSTED_PROXIES", 0, "how many proxies in front set X-Forwarded-For")

    @property
    def local(self) -> bool:
        return self.env == LOCAL

    def contradictions(self) -> Iterator[str]:
        """What cannot be meant although each variable alone could be; `load` refuses it."""
        yield from ()

    def warnings(self) -> Iterator[str]:
        """What is allowed but has to be known; logged at start."""
        yield from ()


T = TypeVar("T", bound=WebSettings)


@dataclass(frozen=True, kw_only=True)
class DatabaseSettings(WebSettings):
    """What every service that owns a database reads besides."""

    couch_url: str = setting(
        "COUCH_URL", help="CouchDB, Cloudant or minicouch", secret=True, local_default="http://127.0.0.1:5984"
    )
    couch_username: str = setting("COUCH_USERNAME", "", "database account")
    couch_password: str = setting("COUCH_PASSWORD", "", "its password", secret=True)
    couch_apikey: str = setting("COUCH_APIKEY", "", "IBM Cloud IAM key (Cloudant)", secret=True)
    database_prefix: str = setting("DATABASE_PREFIX", "", "put before each database's name")

    def contradictions(self) -> Iterator[str]:
        if self.couch_apikey and (self.couch_username or self.couch_password):
            yield "COUCH_APIKEY is set beside COUCH_USERNAME or COUCH_PASSWORD: give one or the other."
        elif bool(self.couch_username) != bool(self.couch_password):
            yield "COUCH_USERNAME and COUCH_PASSWORD go together: one of them is not set."


def load(cls: type[T], env: Mapping[str, str] = os.environ) -> T:
    """Read a settings class from `env`. Raises BadSettings naming all that is wrong."""
    mode = env.get("AISLE_ENV", PRODUCTION)
    if mode not in (LOCAL, PRODUCTION):
        raise BadSettings(f"AISLE_ENV is {mode!r}: set it to {LOCAL!r} or {PRODUCTION!r}.")
    values, problems = {}, []
    for item in fields(cls):
        try:
            values[item.name] = _value(item, env, mode == LOCAL)
        except ValueError as error:
            problems.append(str(error))
    if not problems:
        settings = cls(**values)
        problems = list(settings.contradictions())
    if problems:
        raise BadSettings("Settings cannot be used:\n" + "\n".join(f"  {problem}" for problem in problems))
    return settings


def log_warnings(settings: WebSettings) -> None:
    """Once logging is set up."""
    for line in settings.warnings():
        log.warning(line)


def rows(cls: type) -> Iterator[tuple[str, str, str]]:
    """(variable, default, meaning) for each setting, as docs/settings.md shows them."""
    for item in fields(cls):
        meta = item.metadata
        yield meta["env"], _shown_default(item), meta["help"]


def _value(item: Field[Any], env: Mapping[str, str], local: bool) -> Any:
    name = item.metadata["env"]
    text = env.get(name, "")
    if text != "":
        return _chosen(_converted(item.type, name, text), name, text, item.metadata["choices"])
    if local and item.metadata["local_default"] is not MISSING:
        return item.metadata["local_default"]
    if item.default is MISSING:
        raise ValueError(f"{name} is not set ({item.metadata['help']}).")
    return item.default


def _chosen(value: Any, name: str, text: str, choices: Collection[str]) -> Any:
    given = value if isinstance(value, tuple) else (value,)
    if choices and (not given or not set(given) <= set(choices)):
        raise ValueError(f"{name} is {text!r}: use {' or '.join(f'`{choice}`' for choice in choices)}.")
    return value


def _converted(kind: Any, name: str, text: str) -> Any:
    if kind is bool:
        if text.lower() not in ("1", "0", "true", "false", "yes", "no", "on", "off"):
            raise ValueError(f"{name} is {text!r}: use true or false.")
        return text.lower() in ("1", "true", "yes", "on")
    if kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            raise ValueError(f"{name} is {text!r}: use a number.") from None
    if kind == tuple[str, ...]:
        return tuple(filter(None, (part.strip() for part in text.split(","))))
    return Path(text) if kind in (Path, Path | None) else text


def _shown_default(item: Field[Any]) -> str:
    local = item.metadata["local_default"]
    if item.default is not MISSING:
        return "" if item.default in ("", None, ()) else f"`{item.default}`"
    if local is MISSING or item.metadata["secret"]:
        return "required"
    return f"required (local: `{','.join(local) if isinstance(local, tuple) else local}`)"
