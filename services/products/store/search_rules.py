"""The rules of search: their documents, and the copy of all of them that every search reads without a database call."""

import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from math import inf
from typing import cast

import orjson
from redis import Redis
from redis.exceptions import RedisError

from services.products.rules.search_rules import SearchRules, search_rules
from services.products.search_documents import RULES_PARTITION, rule_id
from shared.clock import now
from shared.couch import Database, Doc, Language, time_ordered_id
from shared.errors import AisleError

CHECK_SECONDS, CONFIRM_SECONDS, MAX_AGE_SECONDS, TTL_SECONDS = 0.5, 5, 60, 24 * 3600

log = logging.getLogger(__name__)


class RuleDocuments:
    """Errors are those of `shared.couch`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self, kind: str = "") -> list[Doc]:
        """Every rule, or those of one kind, by query. 1 partition query."""
        return self._database.partition(RULES_PARTITION).all(f"{kind}:" if kind else "")

    def get(self, kind: str, query: str) -> Doc | None:
        """1 read."""
        docid = rule_id(kind, query)
        return self._database.get_many([docid]).get(docid)

    def put(self, doc: Doc) -> Doc:
        """Writes and returns the document with its new revision. Raises UpdateConflict."""
        return {**doc, "_rev": self._database.put(doc)}

    def delete(self, doc: Doc) -> None:
        self._database.delete(doc["_id"], doc["_rev"])


class RulesCache:
    """Rules are kept in Redis under the version that their last change gave them, and ready to be asked in each process, which
    looks at the version every CHECK_SECONDS.

    Writing a rule makes a new version afterwards, so rules under a version are never older than it. What is written past
    the API (replication, other tools) is seen within MAX_AGE_SECONDS. Documents are read behind a search, never within it.
    """

    def __init__(self, redis: Redis, documents: RuleDocuments, database: str, language: Language) -> None:
        self._redis, self._documents, self._language = redis, documents, language
        self._version_key, self._rules_key = f"search-rules:{database}:version", f"search-rules:{database}:"
        self._rules = SearchRules(language)
        self._version: str | None = None
        self._checked_at, self._due = -inf, -inf
        self._lock = threading.Lock()
        self._executor = ThreadPoolExecutor(1, "search-rules")

    def get(self) -> SearchRules:
        """The rules as they were within the last second. No database call."""
        if time.monotonic() - self._checked_at >= CHECK_SECONDS and self._lock.acquire(blocking=False):
            behind = False
            try:
                behind = self._check()
            finally:
                if behind:
                    self._executor.submit(self._load_behind)
                else:
                    self._lock.release()
        return self._rules

    def changed(self) -> None:
        """A rule came, went or is another: call it after writing. 1 partition query."""
        version = time_ordered_id()
        try:
            self._redis.set(self._version_key, version, ex=TTL_SECONDS)
        except RedisError as error:
            log.warning("search rules cannot be marked as changed: %s", error)
        with self._lock:
            try:
                self._load(version)
            except AisleError as error:
                log.warning("search rules could not be read again: %s", error)

    def version(self) -> str | None:
        """What changes when the rules do."""
        self.get()
        return self._version

    def _check(self) -> bool:
        """Takes over what is kept; whether the documents have to be read."""
        self._checked_at = time.monotonic()
        try:
            version = self._shared_version()
            if version != self._version and self._take_over(version):
                return False
        except RedisError as error:
            log.warning("search rules are not readable: %s", error)
            return self._checked_at >= self._due
        return version != self._version or self._checked_at >= self._due

    def _shared_version(self) -> str:
        found = self._redis.get(self._version_key)
        if found is None:
            self._redis.set(self._version_key, time_ordered_id(), nx=True, ex=TTL_SECONDS)
            found = self._redis.get(self._version_key)
        return cast(bytes, found).decode()

    def _take_over(self, version: str) -> bool:
        body = self._redis.get(self._rules_key + version)
        if body is None:
            return False
        self._use(version, orjson.loads(cast(bytes, body)))
        return True

    def _load_behind(self) -> None:
        try:
            self._load(self._shared_version())
        except RedisError:
            self._load_alone()
        except AisleError as error:
            log.warning("search rules could not be read: %s", error)
        finally:
            self._lock.release()

    def _load_alone(self) -> None:
        """While Redis is away."""
        try:
            self._use(self._version, self._documents.all())
        except AisleError as error:
            log.warning("search rules could not be read: %s", error)

    def _load(self, version: str) -> None:
        docs = self._documents.all()
        self._use(version, docs)
        try:
            self._redis.set(self._rules_key + version, orjson.dumps(docs), ex=TTL_SECONDS)
        except RedisError as error:
            log.warning("search rules cannot be kept: %s", error)

    def _use(self, version: str | None, docs: list[Doc]) -> None:
        """A copy of a cluster may have been late: what changed just now is read once more."""
        settled = version is None or version < time_ordered_id(now() - timedelta(seconds=CONFIRM_SECONDS))
        self._rules, self._version = search_rules(docs, self._language), version
        self._due = time.monotonic() + (MAX_AGE_SECONDS if settled else CONFIRM_SECONDS)
