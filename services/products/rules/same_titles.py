"""One title many times is one row of a search: the best of them, the others beneath."""

from collections.abc import Sequence

from shared.couch import Doc, words_of


def grouped(docs: Sequence[Doc]) -> list[tuple[Doc, list[Doc]]]:
    """Each product with those behind it that have the same brand and, but for signs and case, the same name."""
    rows: dict[tuple[str, ...], tuple[Doc, list[Doc]]] = {}
    for doc in docs:
        title = (doc.get("brand", ""), *words_of(doc["name"]))
        if title in rows:
            rows[title][1].append(doc)
        else:
            rows[title] = (doc, [])
    return list(rows.values())
