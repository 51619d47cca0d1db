"""What a query may name besides its index."""

from typing import Any, Literal, TypedDict


class FindOptions(TypedDict, total=False):
    """Of a Mango query; `allow_stale`: an index that is long in catching up answers with what it holds by now."""

    sort: list[dict[str, str]] | None
    limit: int
    bookmark: str | None
    fields: list[str] | None
    allow_stale: bool


class PageOptions(TypedDict, total=False):
    """Of a view that is read in pages. `start` and `end` are keys, `start_key_doc_id` the document to begin at among rows of the same key.
    With `update` "false" the index answers as it is: nobody has it take in what was written since."""

    key: Any
    keys: list[Any]
    start: Any
    end: Any
    start_key_doc_id: str
    inclusive_end: bool
    include_docs: bool
    descending: bool
    allow_stale: bool
    update: Literal["true", "false", "lazy"]


class ViewOptions(PageOptions, total=False):
    """Of a view."""

    group: bool
    group_level: int | None
    reduce: bool | None
    limit: int
    skip: int
