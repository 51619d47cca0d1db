"""Synonyms, redirects and pinned products: list, read, write, remove. Each kind has the same four endpoints."""

from typing import Any

from flask import Response

from services.products.actions import query_counts
from services.products.actions import search_rules as act
from services.products.actions.search_rules import HIDDEN_QUERIES, PINS, REDIRECTS, SYNONYMS, RuleKind
from services.products.resources.context import dependencies
from services.products.schemas import search as schemas
from services.products.search_documents import SEARCH_RULE_CHANGE
from shared.clock import timestamp
from shared.web import (
    IF_NONE_MATCH,
    Blueprint,
    PageArgs,
    Shape,
    audited,
    check_if_match,
    check_preconditions,
    current_user,
    document_answer,
    etag_of,
    if_match_header,
    json_answer,
    list_answer,
    nothing,
    require_role,
    short_list_answer,
    unsign,
)

search_rules = Blueprint(
    "search rules", __name__, url_prefix="/v1/admin/search", description="What a search means and shows first"
)


def _add_endpoints(
    path: str, kind: RuleKind, body: type[Shape], item: type[Shape], page: type[Shape]
) -> None:
    """GET and PUT and DELETE of rules under `path`."""

    @require_role("admin", "staff")
    @search_rules.arguments(PageArgs, location="query")
    @search_rules.response(200, page)
    @search_rules.alt_response(400, "BAD_REQUEST")
    def listed(args: dict[str, Any]) -> Response:
        items = [kind.fields.shown(doc) for doc in act.rules(dependencies(), kind)]
        return json_answer(short_list_answer(items, args, "query", [path]))

    @require_role("admin", "staff")
    @search_rules.response(200, item)
    @search_rules.alt_response(404, "NOT_FOUND")
    def read(query: str) -> Response:
        return document_answer(kind.fields, act.get(dependencies(), kind, query))

    @require_role("admin")
    @search_rules.arguments(body)
    @search_rules.response(200, item)
    @search_rules.alt_response(201, schema=item)
    @search_rules.alt_response(409, "CONFLICT")
    @search_rules.alt_response(412, "PRECONDITION_FAILED")
    @search_rules.doc(parameters=[if_match_header(), IF_NONE_MATCH])
    @audited(f"write {kind.name}", "query")
    def write(content: dict[str, Any], query: str) -> Response:
        before = act.find(dependencies(), kind, query)
        only_before = check_preconditions(etag_of(before["_rev"]) if before else None)
        doc = act.put(
            dependencies(),
            kind,
            query,
            content,
            before,
            only_before=only_before,
            actor=current_user().userid,
            date=timestamp(),
        )
        return document_answer(kind.fields, doc, 200 if before else 201)

    @require_role("admin")
    @search_rules.response(204)
    @search_rules.alt_response(404, "NOT_FOUND")
    @search_rules.alt_response(409, "CONFLICT")
    @search_rules.alt_response(412, "PRECONDITION_FAILED")
    @search_rules.doc(parameters=[if_match_header()])
    @audited(f"remove {kind.name}", "query")
    def remove(query: str) -> Response:
        doc = act.get(dependencies(), kind, query)
        check_if_match(etag_of(doc["_rev"]))
        act.remove(dependencies(), kind, doc, actor=current_user().userid, date=timestamp())
        return nothing()

    search_rules.add_endpoint("GET", f"/{path}", listed, f"All {path}, by query")
    search_rules.add_endpoint("GET", f"/{path}/<query>", read, f"The {kind.name} for a query")
    search_rules.add_endpoint("PUT", f"/{path}/<query>", write, f"Write the {kind.name} for a query")
    search_rules.add_endpoint("DELETE", f"/{path}/<query>", remove, f"Remove the {kind.name} for a query")


_add_endpoints("synonyms", SYNONYMS, schemas.SynonymContent, schemas.Synonym, schemas.Synonyms)
_add_endpoints("redirects", REDIRECTS, schemas.RedirectContent, schemas.Redirect, schemas.Redirects)
_add_endpoints("pins", PINS, schemas.PinContent, schemas.Pin, schemas.Pins)
_add_endpoints(
    "hidden", HIDDEN_QUERIES, schemas.HiddenQueryContent, schemas.HiddenQuery, schemas.HiddenQueries
)


@search_rules.get("/history")
@require_role("admin", "staff")
@search_rules.arguments(PageArgs, location="query")
@search_rules.response(200, schemas.SearchRuleChanges)
@search_rules.alt_response(400, "BAD_REQUEST")
def history(args: dict[str, Any]) -> Response:
    """Who wrote or removed which rule of search, the last change first"""
    bound = ["search history"]
    docs, following = act.history(dependencies(), args["limit"], unsign(args["cursor"], bound))
    shown = [{name: doc[name] for name in SEARCH_RULE_CHANGE.fields} for doc in docs]
    return json_answer(list_answer(shown, following, bound))


@search_rules.get("/queries")
@require_role("admin", "staff")
@search_rules.arguments(schemas.CountedQueriesArgs, location="query")
@search_rules.response(200, schemas.CountedQueries)
@search_rules.alt_response(400, "BAD_REQUEST")
def queries(args: dict[str, Any]) -> Response:
    """What customers searched for in the last 30 days, the most frequent first"""
    items = query_counts.queries(dependencies(), args["found"])
    return json_answer(short_list_answer(items, args, "query", ["queries", args["found"]]))
