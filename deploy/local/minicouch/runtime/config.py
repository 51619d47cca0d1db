"""The settings behind `_node/_local/_config`: CouchDB's names, our defaults, changes kept in DIR/config.json."""

import json
import os
import secrets
from pathlib import Path

from ..errors import query_parse_error

DEFAULTS: dict[str, dict[str, str]] = {
    "couchdb": {
        "max_document_size": "8000000",
        "max_attachment_size": "1073741824",
        "max_partition_size": "10737418240",
    },
    "chttpd": {
        "require_valid_user": "false",
        "max_http_request_size": "4294967296",
        "max_uri_length": "8000",
    },
    "chttpd_auth": {
        "timeout": "600",
        "allow_persistent_cookies": "true",
        "iterations": "600000",
        "authentication_db": "_users",
    },
    "log": {"level": "info"},
    "query_server_config": {"reduce_limit": "true", "os_process_limit": "100"},
    "uuids": {"algorithm": "sequential", "max_count": "1000"},
    "vendor": {"name": "minicouch"},
}
CLOUDANT_DEFAULTS = DEFAULTS | {
    "couchdb": DEFAULTS["couchdb"] | {"max_attachment_size": "10000000"},
    "query_server_config": DEFAULTS["query_server_config"] | {"partition_query_limit": "2000"},
}
RENAMED = {"couch_httpd_auth": "chttpd_auth", "httpd": "chttpd"}


class Config:
    """Section and key to text, as CouchDB's ini files hold it."""

    def __init__(self, path: Path, defaults: dict[str, dict[str, str]] = DEFAULTS) -> None:
        self._path, self._defaults = path, defaults
        self._changed = self._stored()
        if self.get("chttpd_auth", "secret") is None:
            self.set("chttpd_auth", "secret", secrets.token_hex(32))

        self._read()

    def _stored(self) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = json.loads(self._path.read_text()) if self._path.exists() else {}
        return found

    def reload(self) -> None:
        """What was written into the file by hand counts from now on."""
        self._changed = self._stored()
        self._read()

    def _read(self) -> None:
        """Settings that every request looks at."""
        self.plus_is_space = self.get("chttpd", "decode_plus_to_space") != "false"
        self.jsonp = self.get("chttpd", "allow_jsonp") == "true"
        handlers = self.get("chttpd", "authentication_handlers") or ""
        self.tokens = "jwt_authentication_handler" in handlers
        self.proxies = "proxy_authentication_handler" in handlers
        self.users_db = self.get("chttpd_auth", "authentication_db") or "_users"
        self.max_request = int(self.get("chttpd", "max_http_request_size") or 4 << 30)

    def limited(self, limit: int | None, partitioned: bool) -> int | None:
        """A query's limit under `query_limit` or `partition_query_limit`. Errors: 400 when it asks for more."""
        maximum = self.get(
            "query_server_config", "partition_query_limit" if partitioned else "query_limit", "infinity"
        )
        if maximum is None or not maximum.isdigit():
            return limit
        if limit is not None and limit > int(maximum):
            raise query_parse_error(f"Limit is too large, must not exceed {maximum}")
        return int(maximum) if limit is None else limit

    def sections(self) -> dict[str, dict[str, str]]:
        names = sorted(self._defaults.keys() | self._changed.keys())
        return {name: self.section(name) for name in names}

    def section(self, name: str) -> dict[str, str]:
        return dict(sorted((self._defaults.get(name, {}) | self._changed.get(name, {})).items()))

    def get(self, section: str, key: str, default: str | None = None) -> str | None:
        section = RENAMED.get(section, section)
        found = self._changed.get(section, {}).get(key)
        return found if found is not None else self._defaults.get(section, {}).get(key, default)

    def changed(self, section: str, key: str) -> bool:
        """Whether somebody set it, whatever the default."""
        return key in self._changed.get(section, {})

    def set(self, section: str, key: str, value: str) -> str:
        """Returns the old value, "" when there was none."""
        section = RENAMED.get(section, section)
        old = self.get(section, key, "")
        self._changed.setdefault(section, {})[key] = value
        self._save()
        return old or ""

    def delete(self, section: str, key: str) -> str | None:
        section = RENAMED.get(section, section)
        old = self._changed.get(section, {}).pop(key, None)
        if old is not None:
            self._save()
        return old

    def _save(self) -> None:
        self._read()
        fresh = self._path.with_suffix(".new")
        with open(fresh, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            json.dump(self._changed, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)
