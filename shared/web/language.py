"""The language that a request asks for."""

from collections.abc import Mapping
from functools import lru_cache

from flask import request
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header

from shared.translation import Language


def requested_language(languages: Mapping[str, Language]) -> Language:
    """What `Accept-Language` prefers of them, else the first."""
    sent = request.environ.get("HTTP_ACCEPT_LANGUAGE", "")
    return languages[_preferred(sent, tuple(languages))]


@lru_cache(200)
def _preferred(sent: str, offered: tuple[str, ...]) -> str:
    return parse_accept_header(sent, LanguageAccept).best_match(offered, offered[0])
