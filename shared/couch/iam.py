"""IBM Cloud IAM for Cloudant: access tokens from an API key, kept while they are good.

The SDK's own keeper waits up to a minute, and refuses a good token while IAM is away; a request of ours has seconds.
"""

import logging
import time
from threading import Lock

from ibm_cloud_sdk_core import ApiException
from ibm_cloud_sdk_core.authenticators import IAMAuthenticator
from ibm_cloud_sdk_core.token_managers.iam_token_manager import IAMTokenManager
from requests import RequestException

from shared.couch.errors import DatabaseAway, DatabaseDenied
from shared.errors import AisleError

log = logging.getLogger(__name__)

_CALM_SECONDS = 1.0


class IamTokens(IAMTokenManager):  # type: ignore[misc]  # the SDK has no types
    """One asks for a token while others wait for it; a failure is everybody's for a second. `timeout`: seconds to wait for IAM."""

    def __init__(self, apikey: str, timeout: float) -> None:
        super().__init__(apikey)
        self.http_config = {"timeout": timeout}
        self._turn = Lock()
        self._failed: tuple[float, AisleError] | None = None

    def get_token(self) -> str:
        """Raises DatabaseAway or DatabaseDenied when there is no good token."""
        if self._is_token_expired():
            with self._turn:
                if self._is_token_expired():
                    self._renew()
        elif self._token_needs_refresh():
            try:
                self._renew()
            except AisleError as error:
                log.warning("the old token goes on: %s", error)
        return str(self.access_token)

    def _renew(self) -> None:
        if self._failed and time.monotonic() - self._failed[0] < _CALM_SECONDS:
            raise self._failed[1]
        try:
            self._save_token_info(self.request_token())
            self._failed = None
        except (ApiException, RequestException) as cause:
            error = _translated(cause)
            self._failed = time.monotonic(), error
            raise error from cause


def iam_authenticator(apikey: str, timeout: float) -> IAMAuthenticator:
    """What the SDK takes as its authenticator."""
    authenticator = IAMAuthenticator(apikey)
    authenticator.token_manager = IamTokens(apikey, timeout)
    return authenticator


def _translated(cause: Exception) -> AisleError:
    if isinstance(cause, ApiException) and cause.status_code in (400, 401, 403):
        return DatabaseDenied("IBM Cloud IAM does not take the API key: check COUCH_APIKEY.")
    said = cause.status_code if isinstance(cause, ApiException) else type(cause).__name__
    return DatabaseAway(f"IBM Cloud IAM gives no token just now ({said}).")
