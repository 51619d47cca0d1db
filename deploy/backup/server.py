"""The database server as backup sees it: what a copy needs and nothing else, on ibmcloudant."""

import os
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import unquote, urlsplit, urlunsplit

from ibm_cloud_sdk_core import ApiException
from ibm_cloud_sdk_core.authenticators import BasicAuthenticator, IAMAuthenticator, NoAuthAuthenticator
from ibmcloudant.cloudant_v1 import BulkGetQueryDocument, CloudantV1
from requests.exceptions import RequestException

CHANGES = 1000
FETCHED = 200
ATTEMPTS = 3


class Failed(Exception):
    """What the server refused or a file lacks; the message says what to do."""


class Server:
    """Raises Failed for whatever the server will not do."""

    def __init__(self, env: Mapping[str, str] = os.environ) -> None:
        url, credentials = _split(env["COUCH_URL"])
        name = env.get("COUCH_USERNAME") or credentials[0]
        password = env.get("COUCH_PASSWORD") or credentials[1]
        if env.get("COUCH_APIKEY"):
            authenticator = IAMAuthenticator(env["COUCH_APIKEY"])
        else:
            authenticator = BasicAuthenticator(name, password) if name else NoAuthAuthenticator()
        self._client = CloudantV1(authenticator=authenticator)
        self._client.set_service_url(url)
        self._prefix = env.get("DATABASE_PREFIX", "")
        self._client.enable_retries(max_retries=ATTEMPTS, retry_interval=10.0)

    def databases(self) -> list[str]:
        """All but the server's own; only those that begin with DATABASE_PREFIX."""
        names = self._call("get_all_dbs")
        return [name for name in names if not name.startswith("_") and name.startswith(self._prefix)]

    def information(self, database: str) -> dict:
        return self._call("get_database_information", db=database)

    def leaves(self, database: str) -> Iterator[list[tuple[str, str]]]:
        """(id, rev) of every leaf, also the losing and the deleted ones, some hundreds at a time."""
        since = "0"
        while True:
            answer = self._call("post_changes", db=database, style="all_docs", since=since, limit=CHANGES)
            pairs = [(row["id"], leaf["rev"]) for row in answer["results"] for leaf in row["changes"]]
            yield from (pairs[start : start + FETCHED] for start in range(0, len(pairs), FETCHED))
            since = answer["last_seq"]
            if not answer["results"] or answer.get("pending") == 0:
                return

    def documents(self, database: str, leaves: Sequence[tuple[str, str]]) -> Iterator[dict]:
        """The documents whole: with their ancestry (`_revisions`) and their attachments, which come one document at a
        time, since some hundred pictures are more than a small container holds."""
        for document in self._fetched(database, leaves, attachments=False):
            if "_attachments" in document:
                one = [(document["_id"], document["_rev"])]
                yield from self._fetched(database, one, attachments=True)
            else:
                yield document

    def _fetched(self, database: str, leaves: Sequence[tuple[str, str]], *, attachments: bool) -> list[dict]:
        wanted = [BulkGetQueryDocument(id=id, rev=rev) for id, rev in leaves]
        answer = self._call("post_bulk_get", db=database, docs=wanted, revs=True, attachments=attachments)
        found = [entry for result in answer["results"] for entry in result["docs"]]
        if lost := [entry["error"] for entry in found if "ok" not in entry]:
            raise Failed(f"{database}: {len(lost)} documents cannot be read, the first: {lost[0]}")
        return [entry["ok"] for entry in found]

    def create(self, database: str, *, partitioned: bool) -> None:
        self._call("put_database", db=database, partitioned=partitioned)

    def write(self, database: str, documents: list[dict]) -> None:
        """Puts revisions in as they are, without making new ones."""
        refused = self._call("post_bulk_docs", db=database, bulk_docs={"docs": documents, "new_edits": False})
        if refused:
            raise Failed(f"{database}: {len(refused)} documents were refused, the first: {refused[0]}")

    def _call(self, operation: str, **arguments: object) -> object:
        try:
            return getattr(self._client, operation)(**arguments).get_result()
        except ApiException as error:
            raise Failed(
                f"{operation} of {arguments.get('db', 'the server')}: {error.status_code} {error.message}"
            ) from None
        except RequestException as error:
            raise Failed(
                f"The database server does not answer: {type(error).__name__}. Is COUCH_URL right?"
            ) from None


def _split(url: str) -> tuple[str, tuple[str, str]]:
    """The address without the credentials in it, and these."""
    parts = urlsplit(url)
    address = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    return address, (unquote(parts.username or ""), unquote(parts.password or ""))
