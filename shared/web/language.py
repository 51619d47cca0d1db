"""The language that a request asks for."""

from collections.abc import Mapping

from flask import request

from shared.translation import Language


def requested_language(languages: Mapping[str, Language]) -> Language:
    """What `Accept-Language` prefers of them, else the first."""
    best = request.accept_languages.best_match(list(languages))
    return languages[best] if best else next(iter(languages.values()))
