"""`_search` of design documents, globally and in a partition, `_search_info` and `_search_analyze`."""

from typing import Any

import orjson

from .. import mango, search
from ..documents.auth import check_database_admin
from ..documents.database import Database
from ..documents.ids import check_partition
from ..errors import CouchError, bad_request, query_parse_error
from ..http.messages import Request, Response, json_response, raw_json
from ..http.routing import Route
from ..indexes import searching
from ..indexes.searching import Found, Question, SearchSpec
from ..runtime.threads import run_in_thread
from .views import remove_unused

Options = dict[str, Any]

_JSON_OPTIONS = (
    "sort",
    "limit",
    "group_sort",
    "include_fields",
    "counts",
    "ranges",
    "drilldown",
    "highlight_fields",
    "highlight_pre_tag",
    "highlight_post_tag",
)
_NUMBERS = ("group_limit", "highlight_number", "highlight_size")
INLINE = 200  # so many documents are read on the event loop


async def ask(request: Request) -> Response:
    db, params = request.db, request.params
    spec = searching.open_spec(db, params["ddoc"], params["index"])
    if request.method == "POST":
        request.require_json()
    key = (params.get("partition"), request.body if request.method == "POST" else request.query_string)
    answer = searching.known_answer(db, spec, key)
    if answer is None:
        options = _options(request)
        question = _question(request, spec, options)
        include_docs = options.get("include_docs") is True
        if not question.stale:
            await searching.ready(db, spec)
            answer = searching.kept_answer(db, spec, key)  # for what was written may not be in it
        if question.grouping is not None:
            return json_response(await searching.run(_grouped, db, spec, question, options))
        if answer is None:
            answer = await searching.new_answer(
                db, spec, key, lambda: _answer(db, spec, question, include_docs)
            )
    docids = answer.docids if answer.include_docs else []
    texts = texts_of(db, docids) if len(docids) <= INLINE else await searching.run(texts_of, db, docids)
    response = raw_json(answer.json(texts))
    response.read = len(answer.rows), len(docids)
    return response


def _answer(db: Database, spec: SearchSpec, question: Question, include_docs: bool) -> search.Answer:
    found = searching.ask(db, spec, question)
    head = {"total_rows": found.page.total, "bookmark": pack(found.page.bookmark)}
    tail = {"counts": found.counts, "ranges": found.ranges}
    given = {name: value for name, value in tail.items() if value is not None}
    return search.answer(head, _rows(found, question), given, include_docs, question.stale)


def _grouped(db: Database, spec: SearchSpec, question: Question, options: Options) -> Options:
    """Groups as `group_field` names their parts, or as its forerunner `group_by` does."""
    found = searching.ask(db, spec, question)
    rows = _rows(found, question)
    if options.get("include_docs") is True:
        docs = documents_of(db, [row["id"] for row in rows])
        rows = [row | {"doc": doc} for row, doc in zip(rows, docs, strict=True)]
    new = "group_field" in options
    total, hits = ("total_rows", "rows") if new else ("total_hits", "hits")
    groups = []
    for group in found.groups or ():
        groups.append({"by": group.by, total: group.total, hits: rows[: len(group.hits)]})
        rows = rows[len(group.hits) :]
    if new:
        return {"total_rows": found.page.total, "groups": groups}
    grouped = sum(group.total for group in found.groups or ())
    return {"total_hits": found.page.total, "total_grouped_hits": grouped, "groups": groups}


def design_doc(request: Request) -> Options:
    return request.db.design_doc(request.params["ddoc"]).dict()


def _options(request: Request) -> Options:
    """The options of a request, whether from the query or from a JSON body. Errors: 400."""
    if request.method == "POST":
        request.require_json()
        options = dict(request.json_object())
    else:
        options = {name: _from_query(name, value) for name, value in request.query.items()}
    partition = request.params.get("partition")
    if partition is not None and options.setdefault("partition", partition) != partition:
        raise bad_request("Multiple conflicting values for `partition` provided")
    if "stale" in options and options["stale"] != "ok":
        raise query_parse_error("stale only available as stale=ok")
    for name in _NUMBERS:
        if name in options:
            options[name] = _positive(name, options[name])
    return options


def _from_query(name: str, value: str) -> Any:
    if name in _JSON_OPTIONS:
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            raise bad_request("invalid UTF-8 JSON") from None
    if name in ("include_docs", "stable"):
        if value not in ("true", "false"):
            raise query_parse_error(f'Invalid value for {name}: "{value}"')
        return value == "true"
    return value


def _positive(name: str, value: Any) -> int:
    try:
        number = value if isinstance(value, int) and not isinstance(value, bool) else int(value)
    except (TypeError, ValueError):
        raise query_parse_error(f"Invalid value for {name}: {value}") from None
    if number <= 0:
        raise query_parse_error(f"{name} must be greater than zero")
    return number


def _limit(request: Request, options: Options) -> int:
    default, maximum = (2000, 2000) if request.db.partitioned else (25, 200)
    value = options.get("limit", default)
    if not isinstance(value, int) or isinstance(value, bool):
        raise query_parse_error(f"Invalid value for limit: {orjson.dumps(value).decode()}")
    if value > maximum:
        raise query_parse_error(f"Value for limit is too large, must not exceed {maximum}")
    if value < 0:
        raise query_parse_error("limit must be greater than or equal to zero")
    return value


def _question(request: Request, spec: SearchSpec, options: Options) -> Question:
    query = options.get("q", options.get("query"))
    if query is None:
        raise query_parse_error("Query must include a 'q' or 'query' argument")
    if not isinstance(query, str):
        raise bad_request("query must be a string")
    partition = options.get("partition")
    _check_partition(request, spec, partition)
    limit = _limit(request, options)
    narrowing = ("counts", "ranges", "drilldown", "group_sort", "group_by", "group_field", "group_limit")
    if partition is not None and any(options.get(name) is not None for name in narrowing):
        raise bad_request(
            "`partition` and any of `drilldown`, `ranges`, `group_field`, `group_sort`, "
            "`group_limit` or `group_by` are incompatible"
        )
    return Question(
        query=query,
        limit=limit,
        partition=partition,
        sort=options.get("sort"),
        after=bookmark_place(options.get("bookmark")),
        stale=options.get("stale") == "ok",
        counts=options.get("counts"),
        ranges=options.get("ranges"),
        drilldown=options.get("drilldown"),
        include_fields=_names(options, "include_fields"),
        highlighting=_highlighting(options),
        grouping=_grouping(options, limit),
    )


def _grouping(options: Options, limit: int) -> search.Grouping | None:
    field = options.get("group_field", options.get("group_by"))
    if field is None:
        return None
    groups = options.get("group_limit", 10)
    if groups > 200:
        raise query_parse_error("Value for group_limit is too large, must not exceed 200")
    return search.Grouping(
        search.group_field(field), groups, limit, search.parse_sort(options.get("group_sort"))
    )


def _check_partition(request: Request, spec: SearchSpec, partition: Any) -> None:
    if partition is not None and (not request.db.partitioned or not spec.partitioned):
        raise bad_request("`partition` not supported on this index")
    if partition is None and spec.partitioned:
        raise bad_request("`partition` parameter is mandatory for queries to this index.")
    if partition is not None:
        check_partition(partition)


def _names(options: Options, name: str) -> list[str] | None:
    value = options.get(name)
    if value is not None and not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
        raise bad_request(f"{name} must be an array of strings")
    return value


def _highlighting(options: Options) -> search.Highlighting | None:
    fields = _names(options, "highlight_fields")
    if fields is None:
        return None
    tags = (str(options.get("highlight_pre_tag", "<em>")), str(options.get("highlight_post_tag", "</em>")))
    return search.Highlighting(
        fields, tags, options.get("highlight_number", 1), options.get("highlight_size", 100)
    )


def _rows(found: Found, question: Question) -> list[Options]:
    rows = []
    for number, hit in enumerate(found.page.hits):
        fields = hit.stored or {}
        if question.include_fields is not None:
            fields = {name: value for name, value in fields.items() if name in question.include_fields}
        row: Options = {"id": hit.docid, "order": hit.order, "fields": fields}
        if found.highlights is not None:
            row["highlights"] = found.highlights[number]
        rows.append(row)
    return rows


def texts_of(db: Database, docids: list[str]) -> list[bytes]:
    """The JSON of the documents as they are now, null for those deleted meanwhile."""
    docs = db.get_many(docids)
    found = (docs.get(docid) for docid in docids)
    return [b"null" if doc is None or doc.deleted else doc.json() for doc in found]


def documents_of(db: Database, docids: list[str]) -> list[orjson.Fragment]:
    return [orjson.Fragment(text) for text in texts_of(db, docids)]


def pack(place: list[Any] | None) -> str:
    return mango.pack("search", place)


def bookmark_place(bookmark: Any) -> list[Any] | None:
    if bookmark in (None, ""):
        return None
    if not isinstance(bookmark, str):
        raise bad_request("Invalid bookmark parameter supplied")
    try:
        return mango.unpack(bookmark, 2)[1]
    except CouchError:
        raise bad_request("Invalid bookmark parameter supplied") from None


def info(request: Request) -> Response:
    ddoc = design_doc(request)
    spec = searching.spec_of(request.db, ddoc, request.params["index"])
    index = searching.get_index(request.db, spec)
    return json_response(
        {
            "name": f"_design/{request.params['ddoc']}/{request.params['index']}",
            "search_index": {
                "pending_seq": index.seq,
                "doc_del_count": 0,
                "doc_count": index.searcher.num_docs,
                "disk_size": index.size_on_disk(),
                "committed_seq": index.seq,
                "signature": spec.signature,
            },
        }
    )


async def cleanup(request: Request) -> Response:
    """Remove the index files that no design document names any more."""
    check_database_admin(request.user, request.db.security)
    await run_in_thread(remove_unused, request.db)
    return json_response({"ok": True}, 202)


def disk_size(request: Request) -> Response:
    spec = searching.spec_of(request.db, design_doc(request), request.params["index"])
    size = searching.get_index(request.db, spec).size_on_disk()
    name = f"_design/{request.params['ddoc']}/{request.params['index']}"
    return json_response({"name": name, "search_index": {"disk_size": size}})


def analyze(request: Request) -> Response:
    if request.method == "POST":
        request.require_json()
        options: Options = request.json_object()
    else:
        options = request.query
    analyzer, text = options.get("analyzer"), options.get("text")
    if analyzer is None:
        raise bad_request("analyzer parameter is mandatory")
    if not isinstance(analyzer, str | dict) or analyzer == {}:
        raise bad_request("analyzer parameter must be a string or an object")
    if text is None:
        raise bad_request("text parameter is mandatory")
    if not isinstance(text, str):
        raise bad_request("text parameter must be a string")
    return json_response({"tokens": search.Analyzers(analyzer).of("default").terms(text)})


ROUTES: list[Route] = [
    (method, prefix + "/_search/{index}", ask, name)
    for method in ("GET", "POST")
    for prefix, name in (
        ("/{db}/_design/{ddoc}", "search"),
        ("/{db}/_partition/{partition}/_design/{ddoc}", "partition_search"),
    )
] + [
    ("GET", "/{db}/_design/{ddoc}/_search_info/{index}", info, "search_info"),
    ("GET", "/{db}/_design/{ddoc}/_search_disk_size/{index}", disk_size, "search_disk_size"),
    ("POST", "/{db}/_search_cleanup", cleanup, "search_cleanup"),
    ("POST", "/{db}/_nouveau_cleanup", cleanup, "nouveau_cleanup"),
    ("GET", "/_search_analyze", analyze, "search_analyze"),
    ("POST", "/_search_analyze", analyze, "search_analyze"),
]
