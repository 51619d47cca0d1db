"""`$regex` patterns: PCRE over UTF-8 bytes, with a time limit instead of PCRE's match limit."""

from collections.abc import Callable
from functools import lru_cache

import regex

MATCH_SECONDS = 0.25

_QUOTED = regex.compile(rb"\\Q(.*?)(?:\\E|$)", regex.DOTALL)
_BACK_REFERENCE = regex.compile(rb"\\k(?:<(\w+)>|\{(\w+)\}|'(\w+)')")


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> "regex.Pattern[bytes] | None":
    """The compiled pattern, None when it is not a valid one."""
    try:
        return regex.compile(_from_pcre(pattern.encode()), regex.VERSION0)
    except (regex.error, RecursionError, OverflowError):
        return None


def _from_pcre(pattern: bytes) -> bytes:
    """PCRE's spellings that the regex module lacks: `\\Q..\\E`, `\\k<name>`, `\\z`."""
    pattern = _QUOTED.sub(lambda found: regex.escape(found[1]), pattern)
    pattern = _BACK_REFERENCE.sub(lambda found: b"(?P=" + (found[1] or found[2] or found[3]) + b")", pattern)
    return pattern.replace(rb"\z", rb"(?![\s\S])")


def searcher(pattern: str) -> Callable[[str], bool]:
    """Does the pattern occur in the text? A match that takes too long counts as none, as PCRE's limit does."""
    compiled = compile_pattern(pattern)
    if compiled is None:
        return lambda text: False

    def search(text: str) -> bool:
        try:
            return compiled.search(text.encode(), timeout=MATCH_SECONDS, concurrent=True) is not None
        except TimeoutError:
            return False

    return search
