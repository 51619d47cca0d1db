"""Products from a file: an NDJSON stream sent on in pieces."""

from collections.abc import Iterable, Iterator

from services.storefront.clients import Products
from shared.types import Json

LINES_AT_ONCE = 500


def import_products(products: Products, token: str, lines: Iterable[bytes], first_line: int = 1) -> Json:
    """Sends an NDJSON stream in pieces and adds up the answers; line numbers are those of the whole stream. The last piece's `indexed` is that of
    all."""
    total: Json = {"created": 0, "updated": 0, "unchanged": 0, "failed": [], "indexed": True}
    sent = first_line - 1
    for group in _groups(lines, LINES_AT_ONCE):
        answer = products.import_lines(token, b"".join(group))
        for name in ("created", "updated", "unchanged"):
            total[name] += answer.get(name, 0)
        total["indexed"] = answer.get("indexed", True)
        total["failed"] += [{**each, "line": each["line"] + sent} for each in answer.get("failed", ())]
        sent += len(group)
    total["lines"] = sent - first_line + 1
    return total


def _groups(lines: Iterable[bytes], size: int) -> Iterator[list[bytes]]:
    group: list[bytes] = []
    for line in lines:
        group.append(line)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group
