"""`_nouveau` of design documents: the same searches in the form of CouchDB's own text search; `_nouveau_analyze`."""

import math
import time
from typing import Any

import orjson

from .. import mango, search
from ..documents.ids import check_partition
from ..errors import CouchError, bad_request, query_parse_error
from ..http.messages import Request, Response, json_response
from ..http.routing import Route
from ..indexes import searching
from ..indexes.searching import Question
from .search import bookmark_place, design_doc, documents_of

Options = dict[str, Any]
_JSON = ("sort", "ranges", "counts")
_NUMBERS = ("limit", "top_n")
_NAMES = ("counts", "sort")
_FLAGS = ("update", "include_docs")
_TEXTS = {"q": "query", "locale": "locale"}
MAX_FACETS = 1000


async def ask(request: Request) -> Response:
    db = request.db
    spec = searching.nouveau_spec_of(db, design_doc(request), request.params["index"])
    options = _options(request)
    question = _question(request, options)
    shards = db.properties["q"] * db.properties["n"]
    if options.get("top_n", 10) * (1 if question.partition else shards) > MAX_FACETS:
        raise bad_request(f"topN must be less than or equal to {MAX_FACETS}")
    started = time.perf_counter()
    if not question.stale:
        await searching.ready(db, spec)
    latency = math.ceil((time.perf_counter() - started) * 1000)
    found = await searching.run(searching.ask, db, spec, question)
    hits: list[Options] = [
        {"order": _order(hit, question.sort), "id": hit.docid, "fields": hit.stored or {}}
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
            "update_latency": latency,
        }
    )


def _order(hit: search.Hit, sort: list[str] | None) -> list[Options]:
    """What the hit was sorted by; its id is always the last."""
    names = sort or ["relevance"]
    order = [_typed(name, value) for name, value in zip(names, hit.order, strict=False)]
    return order if names[-1].lstrip("-+") == "_id" else [*order, _typed("_id", hit.docid)]


def _typed(name: str, value: Any) -> Options:
    if value is None:
        return {"@type": "null", "value": None}
    if isinstance(value, str):
        return {"@type": "string", "value": value}
    return {"@type": "float" if name == "relevance" else "double", "value": value}


def _options(request: Request) -> Options:
    """Errors: 400 for a value of the wrong type."""
    if request.method == "POST":
        request.require_json()
        options = dict(request.json_object())
    else:
        options = {name: _from_query(name, value) for name, value in request.query.items()}
    by_address = request.method != "POST"
    for name in _NUMBERS:
        _check_number(name, options.get(name, 1), by_address)
    for name in _FLAGS:
        if not isinstance(options.get(name, True), bool):
            raise _invalid(name, options[name], by_address=by_address)
    for name, called in _TEXTS.items():
        if not isinstance(options.get(name, ""), str):
            raise _invalid(called, options[name])
    for name in _NAMES:
        if name in options:
            _check_names(name, options[name])
    return options


def _check_number(name: str, value: Any, by_address: bool) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise (
            query_parse_error(f"{name} parameter must be an integer") if by_address else _invalid(name, value)
        )
    if value < 1 and by_address:
        raise bad_request(f"{name} must be greater than {'or equal to 1' if name == 'top_n' else '0'}")
    if value < 1:
        raise query_parse_error(f"{name} parameter must be greater than zero")


def _check_names(name: str, value: Any) -> None:
    names = [value] if name == "sort" and isinstance(value, str) else value
    if not isinstance(names, list):
        raise (
            bad_request("invalid UTF-8 JSON")
            if name == "counts"
            else query_parse_error("sort parameter must be a list of strings")
        )
    for number, each in enumerate(names):
        if not isinstance(each, str):
            raise query_parse_error(f"all items in {name} parameter must be strings")
        if not each:
            raise bad_request(f"{name}[{number}].<list element> must not be empty")


def _invalid(name: str, value: Any, *, by_address: bool = False) -> CouchError:
    shown = orjson.dumps(value).decode() if by_address else mango.erlang(value, pretty=True)
    return query_parse_error(f"Invalid value for {name}: {shown}")


def _from_query(name: str, value: str) -> Any:
    if name in _JSON:
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            raise bad_request("invalid UTF-8 JSON") from None
    if name in _NUMBERS:
        return int(value) if value.isascii() and value.lstrip("-").isdigit() else value
    return {"true": True, "false": False}.get(value, value) if name in _FLAGS else value


def _question(request: Request, options: Options) -> Question:
    if "q" not in options:
        raise query_parse_error("q parameter is mandatory")
    partition = _partition(request)
    return Question(
        query=options["q"],
        limit=options.get("limit", 25),
        partition=partition,
        sort=_sort(options.get("sort")),
        after=bookmark_place(options.get("bookmark")),
        stale=options.get("update") is False,
        counts=options.get("counts"),
        ranges=_ranges(options),
        locale=options.get("locale"),
    )


def _partition(request: Request) -> str | None:
    """Errors: 400 for a partition of the path that is none, or another than the parameter names."""
    asked, named = request.query.get("partition"), request.params.get("partition")
    if named is None:
        return asked
    check_partition(named)
    if asked not in (None, named):
        raise bad_request("Conflicting value for `partition` in query string")
    return named


def _sort(value: Any) -> list[str] | None:
    return [value] if isinstance(value, str) else value or None


def _ranges(options: Options) -> Any:
    """Nouveau's `[{"label", "min", "max"}]` as the texts that `_search` takes."""
    if "ranges" not in options:
        return None
    value = options["ranges"]
    if not isinstance(value, dict):
        raise bad_request("invalid UTF-8 JSON")
    ranges: Options = {}
    for field, bands in value.items():
        if not isinstance(bands, list) or not all(isinstance(band, dict) for band in bands):
            raise query_parse_error("range values must be lists of objects")
        ranges[field] = {_label(band): _range_text(band) for band in bands}
    return ranges


def _range_text(band: Options) -> str:
    bounds = {name: _bound(band.get(name)) for name in ("min", "max")}
    low, high = bounds["min"] or "-Infinity", bounds["max"] or "Infinity"
    opening = "[" if _flag(band, "min_inclusive") else "{"
    closing = "]" if _flag(band, "max_inclusive") else "}"
    return f"{opening}{low} TO {high}{closing}"


def _label(band: Options) -> str:
    label = band.get("label")
    if label is None or isinstance(label, list | dict):
        raise bad_request("Unable to process JSON")
    return label if isinstance(label, str) else orjson.dumps(label).decode()


def _flag(band: Options, name: str) -> bool:
    flag = band.get(name, True)
    if not isinstance(flag, bool) and flag is not None:
        raise bad_request("Unable to process JSON")
    return bool(flag)


def _bound(value: Any) -> str | None:
    """A number, which may be written as a text; None is open. Errors: 400."""
    try:
        return None if value is None else repr(float(value))
    except (TypeError, ValueError):
        raise bad_request("Unable to process JSON") from None


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
                "purge_seq": request.db.counts["purge_seq"] if index.seq >= request.db.update_seq else 0,
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
    for name, value in (("text", text), ("analyzer", analyzer)):
        if not value:
            raise bad_request(f"{name} must not be empty")
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
