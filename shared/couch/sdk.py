"""The SDK with less work for each call: its operations, addresses, bodies, headers and results stay as they are.

What the SDK does to prepare and to send a call costs more than the rest of the way to the database. Most of it is for callers
that we are not: headers with None in them, files, gzip, a text of each body beside its JSON.
"""

from collections.abc import Iterable
from functools import lru_cache
from http.cookiejar import CookieJar
from json import dumps
from typing import Any
from urllib.parse import quote

import orjson
import requests
from ibm_cloud_sdk_core import ApiException, DetailedResponse
from ibm_cloud_sdk_core.authenticators import Authenticator
from ibm_cloud_sdk_core.utils import is_json_mimetype
from ibmcloudant.cloudant_base_service import rules_by_operation
from ibmcloudant.cloudant_v1 import CloudantV1
from ibmcloudant.common import get_user_agent

JSON = "application/json"
_ANALYTICS, _OPERATION = "X-IBMCloud-SDK-Analytics", "operation_id="
_is_json = lru_cache(64)(is_json_mimetype)


@lru_cache(4096)
def _quoted(part: str) -> str:
    return quote(part, safe="")


@lru_cache(256)
def _is_plain(analytics: str) -> bool:
    """Whether this header names an operation at whose path the SDK does not look."""
    _, named, operation = analytics.rpartition(_OPERATION)
    return bool(named) and operation.partition(";")[0] not in rules_by_operation


def _texts(values: dict[str, Any]) -> dict[str, Any]:
    """Without None, and with truth as JSON writes it."""
    return {
        name: ("true" if value else "false") if isinstance(value, bool) else value
        for name, value in values.items()
        if value is not None
    }


def _body(value: Any) -> Any:
    """JSON of an object as UTF-8; what is no object as it is. `json` writes what orjson has no way for, such as NaN, which would become
    null and must be refused by the database instead. To read a text with null again costs half of writing it by `json`."""
    if not isinstance(value, dict):
        return value
    try:
        written = orjson.dumps(
            value, option=orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS
        )
    except TypeError:
        return dumps(value).encode()
    is_lossy = b"null" in written and orjson.loads(written) != value
    return dumps(value).encode() if is_lossy else written


class Cloudant(CloudantV1):  # type: ignore[misc]  # the SDK has no types
    """The SDK's client for the server at `address` over a `DatabaseSession`."""

    def __init__(self, address: str, authenticator: Authenticator, session: requests.Session) -> None:
        """With all that the SDK's `__init__` sets but an HTTP client of its own: for that one, which nobody uses, it reads all certificates
        of the web, 30 to 160 ms each time."""
        self.authenticator = authenticator
        self.http_config: dict[str, Any] = {}
        self.jar = CookieJar()
        self.disable_ssl_verification = False
        self.default_headers = None
        self.enable_gzip_compression = False
        self.user_agent_header = {"User-Agent": get_user_agent()}
        self.retry_config = self.http_adapter = None
        self.set_service_url(address)
        self.set_http_client(session)

    def encode_path_vars(self, *args: str) -> Iterable[str]:
        """Parts of a path, as they stand in an address."""
        return map(_quoted, args)

    def put_document(
        self, db: str, doc_id: str, document: Any, *, content_type: str | None = None, **options: Any
    ) -> DetailedResponse:
        """Writes a document: its JSON, or a stream of it."""
        kind = content_type or (JSON if isinstance(document, dict) else None)
        return super().put_document(db, doc_id, _body(document), content_type=kind, **options)

    def post_bulk_docs(self, db: str, bulk_docs: Any, **options: Any) -> DetailedResponse:
        """Writes many documents: {"docs": [...]}, or a stream of its JSON."""
        return super().post_bulk_docs(db, _body(bulk_docs), **options)

    def prepare_request(
        self,
        method: str,
        url: str,
        *args: Any,
        headers: dict[str, Any] | None = None,
        params: dict[str, Any] | None = None,
        data: Any = None,
        files: Any = None,
        **options: Any,
    ) -> dict[str, Any]:
        """What `send` sends. The SDK itself prepares what it has rules for, such as ids that may not begin with an underscore, and
        calls of other shapes than JSON. Raises ValueError by those rules, which are all about underscores at the beginning of a part of a path."""
        if (
            headers is None
            or args
            or files is not None
            or not (data is None or isinstance(data, str | bytes))
            or self.default_headers
            or self.enable_gzip_compression
            or url.endswith("/")
            or not ("/_" not in url or _is_plain(headers.get(_ANALYTICS, "")))
        ):
            return super().prepare_request(  # type: ignore[no-any-return]
                method, url, *args, headers=headers, params=params, data=data, files=files, **options
            )
        if not self.service_url:
            raise ValueError("The service_url is required")
        request = {
            "method": method,
            "url": self.service_url + url,
            "headers": _texts(headers),
            "params": None if params is None else _texts(params),
            "data": data.encode() if isinstance(data, str) else data,
        }
        self.authenticator.authenticate(request)
        return request

    def send(
        self, request: dict[str, Any], *, prepared: list[dict[str, Any]] | None = None, **options: Any
    ) -> DetailedResponse:
        """The answer, parsed where it is JSON; of a stream the SDK's own. `prepared` gets the request, for `send_again`. Raises ApiException."""
        if prepared is not None:
            prepared.append(request)
        if options.get("stream"):
            return super().send(request, **options)
        answer = self.http_client.request(**request, **options)
        status = answer.status_code
        if not 200 <= status <= 299:
            raise ApiException(status, http_response=answer)
        result: Any = None
        if status != 204 and request["method"] != "HEAD" and answer.content:
            result = answer.json() if _is_json(answer.headers.get("Content-Type")) else answer
        return DetailedResponse(response=result, headers=answer.headers, status_code=status)

    def send_again(self, request: dict[str, Any], **options: Any) -> DetailedResponse:
        """`send` of what was prepared earlier, with the log-in of this moment."""
        self.authenticator.authenticate(request)
        return self.send(request, **options)
