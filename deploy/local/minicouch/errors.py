"""The one error every room may raise; server turns it into CouchDB's `{"error":..,"reason":..}`."""


class CouchError(Exception):
    """An answer that is not a success: HTTP status, CouchDB's error name, its reason, extra headers."""

    def __init__(
        self, status: int, error: str, reason: str | None, headers: tuple[tuple[str, str], ...] = ()
    ) -> None:
        super().__init__(status, error, reason)
        self.status = status
        self.error = error
        self.reason = reason
        self.headers = headers


def bad_request(reason: str) -> CouchError:
    return CouchError(400, "bad_request", reason)


def query_parse_error(reason: str) -> CouchError:
    return CouchError(400, "query_parse_error", reason)


def not_found(reason: str = "missing") -> CouchError:
    return CouchError(404, "not_found", reason)


def conflict() -> CouchError:
    return CouchError(409, "conflict", "Document update conflict.")


def forbidden(reason: str) -> CouchError:
    return CouchError(403, "forbidden", reason)


def unauthorized(reason: str) -> CouchError:
    return CouchError(401, "unauthorized", reason)


def method_not_allowed(methods: str) -> CouchError:
    return CouchError(405, "method_not_allowed", f"Only {methods} allowed", (("Allow", methods),))
