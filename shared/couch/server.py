"""A server: a CouchDB, Cloudant or minicouch at a URL.

server = Server("http://admin:secret@127.0.0.1:5984")
server.prepare([orders.documents.DESIGN])
orders = server.open(orders.documents.DESIGN)
"""

import logging
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import unquote, urlsplit, urlunsplit

from ibm_cloud_sdk_core.authenticators import (
    Authenticator,
    BasicAuthenticator,
    NoAuthAuthenticator,
)

from . import design as designs
from . import migration, stuck_indexes
from .client import Client
from .database import Database
from .documents import Shapes
from .errors import IndexRefused, SearchUnavailable
from .iam import IamTokens, iam_authenticator
from .indexes import DatabaseDesign
from .readiness import Readiness
from .sdk import Cloudant
from .search import NouveauIndex
from .transport import DatabaseSession

log = logging.getLogger(__name__)


class Server:
    """A database server. `timeout`: seconds a call may take, retries included; `prefix` is put before every database name."""

    def __init__(
        self,
        url: str,
        *,
        username: str = "",
        password: str = "",
        apikey: str = "",
        prefix: str = "",
        timeout: float = 2.5,
    ) -> None:
        address, found = _split_credentials(url)
        self.prefix = prefix
        tokens = IamTokens(apikey, timeout) if apikey else None
        authenticator = _authenticator(username or found[0], password or found[1], apikey, tokens)
        new_token = tokens.in_place_of if tokens else None
        session = DatabaseSession(address.rstrip("/"), timeout, new_token=new_token)
        self.client = Client(Cloudant(address, authenticator, session))

    def open(self, design: DatabaseDesign) -> Database:
        """The database of a design; no call is made."""
        return Database(self.client, self.name_of(design), Shapes(design.types))

    def name_of(self, design: DatabaseDesign) -> str:
        return f"{self.prefix}{design.name}"

    def features(self) -> list[str]:
        """What `GET /` says the server can do: `search`, `nouveau`, `partitioned`, ..."""
        return sorted(self.client.features())

    def prepare(self, wanted: Iterable[DatabaseDesign], progress: designs.Progress = print) -> None:
        """Databases and indexes, built and warm, before code that needs them starts. Old ones stay: see `clean_up`. Search indexes
        are not waited for while their engine does not answer: see `check_search`. Raises IndexRefused, when all others are built, where
        the server does not build one.

        The databases are prepared at the same time; `progress` is called from several threads.
        """
        features = self.features()

        def prepare_one(design: DatabaseDesign) -> str:
            try:
                designs.prepare(self.client, self.name_of(design), design, features, progress)
            except IndexRefused as error:
                return error.detail
            return ""

        databases = tuple(wanted)
        with ThreadPoolExecutor(max(1, len(databases))) as pool:
            refused = list(filter(None, pool.map(prepare_one, databases)))
        if refused:
            raise IndexRefused("\n".join(refused))

    def check(self, wanted: Iterable[DatabaseDesign]) -> list[str]:
        """What is missing or would be refused, in sentences; empty when `prepare` has nothing to do."""
        features = self.features()
        return [
            line
            for design in wanted
            for line in designs.check(self.client, self.name_of(design), design, features)
        ]

    def check_search(self) -> str:
        """What is wrong with the search engine behind the server, in a sentence; empty when it answers or none is configured."""
        if {"nouveau", "search"} & self.client.features() != {"nouveau"}:
            return ""
        try:
            self.client.search_engine.require(designs.SEARCH_ENGINE_SECONDS)
        except SearchUnavailable as error:
            return f"{error.detail}: the shop works without search until it does. See [nouveau] in the server's configuration."
        return ""

    def clean_up(
        self,
        wanted: Iterable[DatabaseDesign],
        progress: designs.Progress = print,
        also_keep: Iterable[str] = (),
    ) -> None:
        """Removes the indexes that neither `wanted` nor `also_keep` (design ids of versions still running) name."""
        for design in wanted:
            keep = designs.design_ids(design) | set(also_keep)
            designs.clean_up(self.client, self.name_of(design), keep, progress)

    def migrate(self, wanted: Iterable[DatabaseDesign], progress: designs.Progress = print) -> None:
        """Writes documents of older schemas in today's; they were readable before, so this can wait, stop and be repeated."""
        for design in wanted:
            if design.types:
                migration.migrate(self.client, self.name_of(design), design.types, progress)

    def wait_for_indexes(self, *wanted: DatabaseDesign) -> None:
        """Returns when every index of these designs holds what was written before the call. For who wrote much, and for jobs.
        Raises SearchUnavailable, when all others do, while the search engine behind the server is away, and IndexRefused."""
        for design in wanted:
            patterns = designs.servable(design, self.client.features())
            designs.warm_all(self.client, self.name_of(design), patterns)

    def restore_indexes(self, *wanted: DatabaseDesign) -> None:
        """Makes indexes again that were dropped, and has search indexes built anew that nothing is added to (`stuck_indexes`), a step each
        time; where all is well it only looks. Raises NotPrepared without the database."""
        for design in wanted:
            name, features = self.name_of(design), self.client.features()
            if missing := designs.missing(self.client, name, design, features):
                designs.create_indexes(self.client, name, missing, log.warning)
            searched = [each for each in designs.servable(design, features) if isinstance(each, NouveauIndex)]
            if searched:
                stuck_indexes.rebuild(self.client, name, searched)

    def readiness(self, *wanted: DatabaseDesign) -> Readiness:
        """A check for `/health/ready`: raises while the server does not answer or lacks an index of these designs."""
        return Readiness(self.client, self.name_of, wanted)

    def ready(self) -> None:
        """Raises DatabaseUnavailable while the server does not answer."""
        self.client.call("get_up_information")


def _split_credentials(url: str) -> tuple[str, tuple[str, str]]:
    parts = urlsplit(url)
    if "@" not in parts.netloc:
        return url, ("", "")
    address = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    return address, (unquote(parts.username or ""), unquote(parts.password or ""))


def _authenticator(username: str, password: str, apikey: str, tokens: IamTokens | None) -> Authenticator:
    if tokens:
        return iam_authenticator(apikey, tokens)
    return BasicAuthenticator(username, password) if username else NoAuthAuthenticator()
