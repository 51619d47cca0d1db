"""IBM Cloud IAM for Cloudant: access tokens from an API key, kept while they are good.

The SDK's own keeper waits up to a minute, and refuses a good token while IAM is away; a request of ours has seconds.
"""

import logging
import time
from collections.abc import Mapping
from threading import Lock
from typing import Any
from urllib.parse import urlencode

from ibm_cloud_sdk_core import ApiException
from ibm_cloud_sdk_core.authenticators import IAMAuthenticator
from ibm_cloud_sdk_core.token_managers.iam_token_manager import IAMTokenManager

from .answer import Answer
from .errors import DatabaseDenied, DatabaseUnavailable, Error
from .http import HttpClient, TransportError

log = logging.getLogger(__name__)

_RETRY_SECONDS = 1.0
_TRUSTED_SECONDS = 10.0
"""A token this young that the database refuses is not exchanged for another: what it lacks is a right."""


class IamTokens(IAMTokenManager):  # type: ignore[misc]  # the SDK has no types
    """One asks for a token while others wait for it; a failure is everybody's for a second. `timeout`: seconds to wait for IAM."""

    def __init__(self, apikey: str, timeout: float) -> None:
        super().__init__(apikey)
        self._timeout = timeout
        self._http = HttpClient(max_idle=1)
        self._lock = Lock()
        self._failed: tuple[float, Error] | None = None
        self._renewed = float("-inf")

    def get_token(self) -> str:
        """Raises DatabaseUnavailable or DatabaseDenied when there is no good token."""
        if self._is_token_expired():
            with self._lock:
                if self._is_token_expired():
                    self._renew()
        elif self._token_needs_refresh():
            try:
                self._renew()
            except Error as error:
                log.warning("the old token goes on: %s", error)
        return str(self.access_token)

    def in_place_of(self, refused: str) -> str | None:
        """Another token than the one that the database took no more (401) before its time: the key was exchanged, or IAM signs anew.
        None when a new one was refused as well. Raises DatabaseDenied when the key is not good any more, DatabaseUnavailable without IAM."""
        with self._lock:
            if self.access_token == refused:
                if time.monotonic() - self._renewed < _TRUSTED_SECONDS:
                    return None
                self._renew()
            return str(self.access_token)

    def _request(
        self, method: str, url: str, *, headers: Mapping[str, str], data: Mapping[str, str], **_: Any
    ) -> dict[str, Any]:
        """In place of the SDK's, whose timeout begins again with every byte. Raises ApiException or TransportError.

        The token is for all, so that the request which happens to ask for it gives it more time than itself may have left.
        """
        body = urlencode(data).encode()
        answer = Answer(self._http.request(method, url, headers, body, timeout=self._timeout))
        if not 200 <= answer.status_code <= 299:
            raise ApiException(answer.status_code, http_response=answer)
        return dict(answer.json())

    def _renew(self) -> None:
        if self._failed and time.monotonic() - self._failed[0] < _RETRY_SECONDS:
            raise self._failed[1]
        try:
            self._save_token_info(self.request_token())
            self._failed, self._renewed = None, time.monotonic()
        except (ApiException, TransportError, ValueError) as cause:
            error = _translated(cause)
            self._failed = time.monotonic(), error
            raise error from cause


def iam_authenticator(apikey: str, tokens: IamTokens) -> IAMAuthenticator:
    """What the SDK takes as its authenticator."""
    authenticator = IAMAuthenticator(apikey)
    authenticator.token_manager = tokens
    return authenticator


def _translated(cause: Exception) -> Error:
    if isinstance(cause, ApiException) and cause.status_code in (400, 401, 403):
        return DatabaseDenied("IBM Cloud IAM does not take the API key: check COUCH_APIKEY.")
    said = cause.status_code if isinstance(cause, ApiException) else type(cause).__name__
    return DatabaseUnavailable(f"IBM Cloud IAM gives no token just now ({said}).")
