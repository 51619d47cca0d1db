"""`_nouveau` of design documents: the same searches in the form of CouchDB's own text search; `_nouveau_analyze`."""

from typing import Any

import orjson

from .. import mango, search
from ..documents.ids import check_partition
from ..errors import bad_request, query_parse_error
from ..http.messages import Request, Response, json_response
from ..http.routing import Route
from ..indexes import searching
from ..indexes.searching import Question, SearchSpec
from .search import bookmark_place, design_doc, documents_of

Options = dict[str, Any]
_JSON = ("sort", "ranges", "counts")
_NUMBERS = ("limit", "top_n")
_FLAGS = ("update", "include_docs")
MAX_FACETS = 1000


async def ask(request: Request) -> Response:
    db = request.db
    spec = searching.nouveau_spec_of(db, design_doc(request), request.params["index"])
    options = _options(request)
    question = _question(request, spec, options)
    shards = db.properties["q"] * db.properties["n"]
    if options.get("top_n", 10) * (1 if question.partition else shards) > MAX_FACETS:
        raise bad_request(f"topN must be less than or equal to {MAX_FACETS}")
    if not question.stale:
        await searching.ready(db, spec)
    found = await searching.run(searching.ask, db, spec, question)
    hits: list[Options] = [
        {"order": [_ordered(value) for value in hit.order], "id": hit.docid, "fields": hit.stored or {}}
        for hit in found.page.hits
    ]
    if options.get("include_docs"):
        docs = await searching.run(documents_of, db, [hit["id"] for hit in hits])
        hits = [hit | {"doc": doc} for hit, doc in zip(hits, docs, strict=True)]
    return json_response(
        {
            "bookmark": mango.pack("nouveau", found.page.bookmark),
            "total_hits": found.page.total,
            "total_hits_relation": "EQUAL_TO",
            "hits": hits,
            "counts": _counts(found.counts, options.get("top_n", 10)),
            "ranges": _counts(found.ranges, options.get("top_n", 10)),
            "update_latency": 0,
        }
    )


def _ordered(value: Any) -> Options:
    if value is None:
        return {"@type": "null"}
    if isinstance(value, str):
        return {"@type": "string", "value": value}
    return {"@type": "float" if isinstance(value, float) else "int", "value": value}


def _options(request: Request) -> Options:
    """Errors: 400 for a value of the wrong type."""
    if request.method == "POST":
        request.require_json()
        options = dict(request.json_object())
    else:
        options = {name: _from_query(name, value) for name, value in request.query.items()}
    for name in _NUMBERS:
        value = options.get(name, 1)
        if not isinstance(value, int) or isinstance(value, bool):
            raise query_parse_error(f"{name} parameter must be an integer")
        if value < 1:
            raise query_parse_error(f"{name} parameter must be greater than zero")
    for name in _FLAGS:
        if not isinstance(options.get(name, True), bool):
            raise query_parse_error(f"Invalid value for {name}: {orjson.dumps(options[name]).decode()}")
    return options


def _from_query(name: str, value: str) -> Any:
    if name in _JSON:
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            raise bad_request("invalid UTF-8 JSON") from None
    if name in _NUMBERS:
        return int(value) if value.isascii() and value.lstrip("-").isdigit() else value
    return {"true": True, "false": False}.get(value, value) if name in _FLAGS else value


def _question(request: Request, spec: SearchSpec, options: Options) -> Question:
    query = options.get("q")
    if query is None:
        raise query_parse_error("q parameter is mandatory")
    if not isinstance(query, str):
        raise bad_request("q parameter must be a string")
    partition = request.params.get("partition", request.query.get("partition"))
    if partition is not None:
        if not (request.db.partitioned and spec.partitioned):
            raise bad_request("`partition` parameter is not supported on this index.")
        check_partition(partition)
    return Question(
        query=query,
        limit=options.get("limit", 25),
        partition=partition,
        sort=_sort(spec, options.get("sort")),
        after=bookmark_place(options.get("bookmark")),
        stale=options.get("update") is False,
        counts=options.get("counts"),
        ranges=_ranges(options.get("ranges")),
    )


def _sort(spec: SearchSpec, value: Any) -> list[search.Key] | None:
    """Nouveau knows the type of a field; here a field that has numbers is sorted by them."""
    if value in (None, "relevance"):
        return None
    names = value if isinstance(value, list) else [value]
    if not all(isinstance(name, str) and name.strip("-") for name in names):
        raise query_parse_error("all items in sort parameter must be strings")
    return [search.Key(name.removeprefix("-"), "any", name.startswith("-")) for name in names]


def _ranges(value: Any) -> Any:
    """Nouveau's `[{"label", "min", "max"}]` as the texts that `_search` takes."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise query_parse_error("Invalid value for ranges")
    ranges: Options = {}
    for field, bands in value.items():
        if not isinstance(bands, list) or not all(isinstance(band, dict) for band in bands):
            raise query_parse_error("range values must be lists of objects")
        ranges[field] = {str(band.get("label")): _range_text(band) for band in bands}
    return ranges


def _range_text(band: Options) -> str:
    low, high = band.get("min", "-Infinity"), band.get("max", "Infinity")
    if not all(isinstance(bound, int | float | str) for bound in (low, high)):
        raise query_parse_error("min and max of a range must be numbers")
    opening = "[" if band.get("min_inclusive", True) else "{"
    closing = "]" if band.get("max_inclusive", True) else "}"
    return f"{opening}{low} TO {high}{closing}"


def _counts(counts: Options | None, most: int) -> Options | None:
    """The most frequent values of each field, as whole numbers."""
    if counts is None:
        return None
    return {
        field: dict(sorted(found.items(), key=lambda item: (-item[1], item[0]))[:most])
        for field, found in (_whole(counts) or {}).items()
    }


def _whole(facets: Options | None) -> Options | None:
    if facets is None:
        return None
    return {field: {label: int(number) for label, number in found.items()} for field, found in facets.items()}


def info(request: Request) -> Response:
    spec = searching.nouveau_spec_of(request.db, design_doc(request), request.params["index"])
    index = searching.get_index(request.db, spec)
    return json_response(
        {
            "name": f"_design/{request.params['ddoc']}/{request.params['index']}",
            "search_index": {
                "num_docs": index.searcher.num_docs,
                "update_seq": index.seq,
                "purge_seq": 0,
                "disk_size": index.size_on_disk(),
                "signature": spec.signature,
            },
        }
    )


def analyze(request: Request) -> Response:
    request.require_json()
    options = request.json_object()
    analyzer, text = options.get("analyzer"), options.get("text")
    if not (isinstance(analyzer, str) and isinstance(text, str)):
        raise bad_request("'text' and 'analyzer' fields must be non-empty strings")
    return json_response({"tokens": searching.nouveau_terms(analyzer, text)})


ROUTES: list[Route] = [
    (method, prefix + "/_nouveau/{index}", ask, name)
    for method in ("GET", "POST")
    for prefix, name in (
        ("/{db}/_design/{ddoc}", "nouveau"),
        ("/{db}/_partition/{partition}/_design/{ddoc}", "partition_nouveau"),
    )
] + [
    ("GET", "/{db}/_design/{ddoc}/_nouveau_info/{index}", info, "nouveau_info"),
    ("POST", "/_nouveau_analyze", analyze, "nouveau_analyze"),
]
