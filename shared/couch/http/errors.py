"""Why a request has no response. The difference matters for writes: only what was not sent was certainly not done."""


class TransportError(OSError):
    """There is no complete response."""


class NotSent(TransportError):
    """No connection was made: the server cannot have seen the request."""


class NoResponse(TransportError):
    """The request went out and no complete response came back: it may have been carried out."""
