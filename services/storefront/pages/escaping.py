"""Texts within the pieces of pages that are written out in Python."""

import re

from markupsafe import escape

_SPECIAL = re.compile("[&<>'\"]")


def escaped(text: str) -> str:
    """As `escape` writes it; most texts have nothing to escape, and it takes several times as long to say so."""
    return str(escape(text)) if _SPECIAL.search(text) else text
