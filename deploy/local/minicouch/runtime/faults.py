"""Bad days on demand, for tests of what talks to the server: only when started with --faults.

`PUT /_faults` with a list of rules sets them, `GET` shows them, `DELETE` ends them. A rule:
{"path": regular expression, "method": "GET", "probability": 0.5, "times": 3, and one of
 "latency": seconds, "status": 429 or 500..., "drop": true (the connection closes unanswered), "disk_full": true}
"""

import asyncio
import random
import re
from typing import Any

from ..errors import CouchError, bad_request

KINDS = ("latency", "status", "drop", "disk_full")
REASONS = {
    429: ("too_many_requests", "You've exceeded your current limit of requests."),
    500: ("internal_server_error", "a fault was asked for"),
    503: ("service unavailable", "a fault was asked for"),
}
WRITES = ("PUT", "POST", "DELETE", "COPY")


class Dropped(Exception):
    """The connection is to be closed without an answer."""


class Faults:
    """The rules in force. They never touch /_faults itself."""

    def __init__(self) -> None:
        self.rules: list[dict[str, Any]] = []

    def set(self, rules: Any) -> None:
        """Errors: 400 for a rule that cannot be."""
        if not isinstance(rules, list):
            raise bad_request("faults are a JSON array of rules")
        for rule in rules:
            if not isinstance(rule, dict) or sum(kind in rule for kind in KINDS) != 1:
                raise bad_request(f"a rule is an object with exactly one of {', '.join(KINDS)}")
            try:
                re.compile(rule.get("path", ""))
            except (re.error, TypeError):
                raise bad_request("`path` must be a regular expression") from None
        self.rules = [dict(rule) for rule in rules]

    async def strike(self, method: str, path: str) -> None:
        """Do to a request what the rules say. Errors: CouchError or Dropped."""
        for rule in self.rules:
            if self._applies(rule, method, path):
                if "latency" in rule:
                    await asyncio.sleep(float(rule["latency"]))
                    continue
                if rule.get("drop"):
                    raise Dropped
                raise _answer(rule)

    def _applies(self, rule: dict[str, Any], method: str, path: str) -> bool:
        if path.startswith("/_faults") or not re.search(rule.get("path", ""), path):
            return False
        if "method" in rule and rule["method"] != method:
            return False
        if rule.get("disk_full") and method not in WRITES:
            return False
        if rule.get("times", 1) <= 0 or random.random() >= rule.get("probability", 1):
            return False
        if "times" in rule:
            rule["times"] -= 1
        return True


def _answer(rule: dict[str, Any]) -> CouchError:
    if rule.get("disk_full"):
        return CouchError(500, "enospc", "no space left on device")
    status = int(rule["status"])
    error, reason = REASONS.get(status, ("fault", "a fault was asked for"))
    headers = (("Retry-After", str(rule.get("retry_after", 1))),) if status in (429, 503) else ()
    return CouchError(status, error, reason, headers)
