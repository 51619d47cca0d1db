"""The SDK with our errors: what it raises is turned into the shop's own tree here and nowhere else."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import quote, urlsplit

import orjson
import requests
from ibm_cloud_sdk_core import ApiException
from ibmcloudant.cloudant_v1 import CloudantV1

from .deadline import time_for
from .errors import (
    DatabaseDenied,
    DatabaseUnavailable,
    Forbidden,
    NoSuchDocument,
    NotPrepared,
    QueryRefused,
    from_answer,
)
from .keyword_searches import KeywordSearches
from .repeats import Ask, ReadBlock, current_block
from .search_engine import SearchEngine
from .shards import partition_of_each
from .staleness import StaleReads
from .tally import counting

JSON_HEADERS = {"Accept": "application/json", "Content-Type": "application/json"}


class Client:
    """The SDK with our errors: `call("get_document", db=..., doc_id=...)` -> the parsed answer."""

    def __init__(self, sdk: CloudantV1) -> None:
        self.sdk = sdk
        self._features: frozenset[str] | None = None
        self._version = ""
        self._clusters: dict[str, dict[str, int]] = {}
        self._stale_reads = StaleReads()
        self.server = urlsplit(sdk.service_url).netloc
        """Its host and port."""
        self.search_engine = SearchEngine(self.server, self._analyze)
        self.keyword_searches = KeywordSearches(sdk.get_http_client().timeout)
        self.not_prepared = 0
        """How many calls met a database or an index that is not there."""

    def call(self, operation: str, **arguments: Any) -> Any:
        return self.answer(operation, all_headers=False, **arguments).get_result()

    def answer(self, operation: str, **arguments: Any) -> Any:
        """The SDK's DetailedResponse, for those who need its headers."""
        return self._sent(lambda: getattr(self.sdk, operation)(**arguments), operation)

    def read(self, operation: str, **arguments: Any) -> Any:
        """`call` of a read. The first one of a block may be known: see `repeats`."""
        ask = partial(self.call, operation, **arguments)
        block = current_block()
        if block is None or block.calls:
            return ask()
        as_bytes = self._as_bytes(ask)
        return _first_read(block, ask, lambda: (as_bytes(), False))[0]

    def allow_stale(self, index: str, ask: partial[Any], stale: dict[str, Any]) -> tuple[Any, bool]:
        """The answer of an index and whether it was behind: see `staleness`. The first one of a block may be known: see `repeats`."""
        return self._ask_index(ask, lambda send: self._stale_reads.ask(index, send, stale, self._time()))

    def when_fresh(self, index: str, ask: partial[Any], share: float) -> Any:
        """The same of an index that cannot be read while it is behind, within this share of the time. Raises SearchUnavailable then."""
        return self._ask_index(
            ask, lambda send: (self._stale_reads.ask_fresh(index, send, self._time() * share), False)
        )[0]

    def _ask_index(
        self, ask: partial[Any], wait: Callable[[Callable[..., Any]], tuple[Any, bool]]
    ) -> tuple[Any, bool]:
        block = current_block()
        if block is None or block.calls:
            return wait(ask)
        as_bytes = self._as_bytes(ask)
        return _first_read(block, ask, lambda: wait(as_bytes))

    def _as_bytes(self, ask: partial[Any]) -> Callable[..., Any]:
        """`ask` whose answer is not parsed. The request of a `call` is prepared once, however often it is sent with another time alone."""
        if ask.func != self.call:
            return partial(ask, as_bytes=True)  # a search by Nouveau, which minds its engine
        prepared: list[dict[str, Any]] = []

        def send(**options: Any) -> Any:
            if options.keys() - {"call_timeout"}:
                return ask(as_bytes=True, **options)
            if not prepared:
                return ask(as_bytes=True, prepared=prepared, **options)
            options |= {"as_bytes": True, "all_headers": False}
            return self._sent(lambda: self.sdk.send_again(prepared[0], **options), ask.args[0]).get_result()

        return send

    def _time(self) -> float:
        return time_for(self.sdk.get_http_client().timeout)

    def features(self) -> frozenset[str]:
        """What `GET /` says the server can do; asked once, and not on the bill of the request that happens to be first."""
        if self._features is None:
            self._ask_server()
        return self._features or frozenset()

    def reads_nouveau_behind(self) -> bool:
        """Whether `update: false` answers with what a Nouveau index holds. Up to CouchDB 3.5.0 such a search is sent to Nouveau over and
        over until the index has caught up, for a minute and also when nobody waits for it any more (apache/couchdb#5617)."""
        if not self._version:
            self._ask_server()
        return tuple(map(int, re.findall(r"\d+", self._version)[:3])) > (3, 5, 0)

    def _ask_server(self) -> None:
        with counting():
            answer = self.call("get_server_information")
        self._version = answer["version"]
        if self._features is None:
            self._features = frozenset(answer.get("features", ()))

    def shards(self, db: str) -> int:
        """How many shards a database has, every copy counted; asked once, like `features`."""
        cluster = self._cluster(db)
        return cluster["q"] * cluster["n"]

    def copies(self, db: str) -> int:
        """How many nodes hold each document of a database; asked once, like `features`."""
        return self._cluster(db)["n"]

    def partition_of_each_shard(self, db: str) -> tuple[str, ...]:
        """A key of a partition in each of its shards, as they are now: they can be split."""
        with counting():
            return partition_of_each(self.call("get_shards_information", db=db)["shards"])

    def _cluster(self, db: str) -> dict[str, int]:
        if db not in self._clusters:
            with counting():
                self._clusters[db] = self.call("get_database_information", db=db)["cluster"]
        return self._clusters[db]

    def nouveau(self, at: dict[str, str], ddoc: str, index: str, body: dict[str, Any], **options: Any) -> Any:
        """A Nouveau search. `options` are the SDK's, such as `call_timeout`. Raises SearchUnavailable while Nouveau is away."""
        partition = f"/_partition/{quote(at['partition_key'], safe='')}" if "partition_key" in at else ""
        path = f"/{quote(at['db'], safe='')}{partition}/_design/{quote(ddoc, safe='')}/_nouveau/{quote(index, safe='')}"
        with self.search_engine.asked():
            return self._post("nouveau", path, body, **options)

    def revisions(self, db: str, docid: str, nodes: int, **options: Any) -> Any:
        """`_bulk_get` of a document that so many nodes are to answer, as far as they are there: the SDK's operation cannot say it. `options`
        are the SDK's."""
        path, body = f"/{quote(db, safe='')}/_bulk_get", {"docs": [{"id": docid}]}
        return self._post("post_bulk_get", path, body, params={"r": nodes}, **options)

    def compact(self, db: str) -> bool:
        """Starts a compaction; False when the server refuses to be asked."""
        try:
            self._post("compact", f"/{quote(db, safe='')}/_compact", {})
        except (DatabaseDenied, Forbidden, NoSuchDocument, QueryRefused):
            return False
        return True

    def _analyze(self, seconds: float) -> None:
        body = {"analyzer": "standard", "text": "word"}
        with counting():
            self._post("nouveau_analyze", "/_nouveau_analyze", body, call_timeout=seconds)

    def _post(
        self,
        operation: str,
        path: str,
        body: dict[str, Any],
        *,
        params: dict[str, Any] | None = None,
        **options: Any,
    ) -> Any:
        """What the SDK has no operation for."""
        request = self.sdk.prepare_request("POST", path, headers=JSON_HEADERS, params=params, data=body)
        send = partial(self.sdk.send, request, all_headers=False, **options)
        return self._sent(send, operation).get_result()

    def _sent(self, send: Callable[[], Any], operation: str) -> Any:
        if (block := current_block()) is not None:
            block.calls += 1
        try:
            return send()
        except ApiException as error:
            translated = _translated(error, operation)
            self.not_prepared += isinstance(translated, NotPrepared)
            raise translated from error
        except requests.RequestException as error:
            raise DatabaseUnavailable(f"The database does not answer ({type(error).__name__}).") from error


def _first_read(block: ReadBlock[Any], ask: partial[Any], send: Ask) -> tuple[Any, bool]:
    """What `send` brings of the read that `ask` says, parsed, and whether the index was behind."""
    answer, behind = block.first_read(orjson.dumps([ask.args, ask.keywords], default=id), send)
    return orjson.loads(answer), behind


def _translated(error: ApiException, operation: str) -> Exception:
    response = error.http_response
    try:
        body = response.json()
    except (ValueError, AttributeError):
        body = None
    translated = from_answer(error.status_code, body, operation)
    translated.extra["resent"] = getattr(response, "resent", False)
    return translated
