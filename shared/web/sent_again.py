"""Answers that are sent again while the database answers their one read alike, to the byte: what `shared.couch.repeats` keeps, for handlers.

Who asks is checked and the database is asked each time; parsing what it says, and all that the handler does with it, happens once.
"""

from collections.abc import Callable, Hashable, Mapping
from functools import wraps
from typing import Any, Final, NamedTuple, cast

from flask import Response, current_app, g, request

from shared.couch.repeats import Made, RepeatedReads
from shared.web.answers import ReadyJson
from shared.web.api import Decorator, Handler
from shared.web.auth import current_user
from shared.web.context import add_log_fields, log_fields
from shared.web.etag import not_modified

MAX_BYTES: Final = 12 * 1024 * 1024
"""Of each process: about what 2,000 products take."""
ENTRY_BYTES: Final = 1200
"""About what an answer takes besides its body and its address: headers, and who asked."""


class _Sent(NamedTuple):
    """`response` goes out to several requests at a time: nobody changes it."""

    response: ReadyJson
    etag: str | None
    noted: Mapping[str, str]


SentAnswers = RepeatedReads[_Sent | None]


def depends_on_more() -> None:
    """The answer at hand is not sent again: more decides it than `sent_again` knows, such as the time."""
    g.depends_on_more = True


def sent_again(
    deciding: Callable[[], Hashable] = current_user, given: Callable[[], tuple[object, ...]] = tuple
) -> Decorator:
    """Of a GET that makes one database call, below what checks who asks and above what reads its arguments.

    The address, `deciding` (who asks, headers), the very objects in `given` (settings) and the database's answer have to decide alone
    what the handler answers; where more does it calls `depends_on_more`. Only JSON with status 200 is sent again, or 304 in its place.
    """

    def decorate(handler: Handler) -> Handler:
        @wraps(handler)
        def answering(*args: Any, **kwargs: Any) -> Any:
            returned: Any = None
            environ = request.environ
            question = environ["PATH_INFO"], environ["QUERY_STRING"], deciding()

            def make() -> Made[_Sent | None]:
                nonlocal returned
                returned = handler(*args, **kwargs)
                return _made(returned, environ)

            kept: SentAnswers = current_app.extensions["aisle.sent_answers"]
            sent, repeated = kept.get(question, make, given())
            return _answer(sent) if repeated and sent is not None else returned

        return cast(Handler, answering)

    return decorate


def _made(returned: Any, environ: Mapping[str, Any]) -> Made[_Sent | None]:
    if not isinstance(returned, ReadyJson) or returned.status_code != 200 or "depends_on_more" in g:
        return Made(None, 0, repeatable=False)
    size = len(returned.get_data()) + len(environ["PATH_INFO"]) + len(environ["QUERY_STRING"]) + ENTRY_BYTES
    sent = _Sent(returned, returned.headers.get("ETag"), log_fields())
    return Made(sent, size, repeatable=True, same_read=True)


def _answer(sent: _Sent) -> Response:
    if sent.noted:
        add_log_fields(**sent.noted)
    return (not_modified(sent.etag) if sent.etag else None) or sent.response
