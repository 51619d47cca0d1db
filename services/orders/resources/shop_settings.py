"""What the desk sets: shipping methods, tax rates, promotions and the shop's own settings, each with its earlier versions."""

from typing import Any

from flask import Response

from services.orders.actions import shop_settings as act
from services.orders.actions.promotions import PROMOTIONS, used_of
from services.orders.actions.shop_settings import SHIPPING_METHODS, SHOP_KIND, TAX_RATES, SettingKind
from services.orders.resources.context import dependencies
from services.orders.resources.requester import actor
from services.orders.schemas import settings as schemas
from shared.web import (
    Blueprint,
    PageArgs,
    Shape,
    audited,
    check_if_match,
    check_preconditions,
    document_answer,
    etag_of,
    idempotent,
    if_match_header,
    is_repeatable,
    json_answer,
    kept_id,
    require_role,
    short_list_answer,
)

shop_settings = Blueprint(
    "settings",
    __name__,
    url_prefix="/v1/admin",
    description="Shipping, tax, promotions and what else the desk sets",
)

_IDENTIFYING = ("name", "active", "codes", "country", "region", "rate")
_IF_MATCH = if_match_header("the ETag of the version that this replaces")


def _add_endpoints(
    path: str, kind: SettingKind, body: type[Shape], item: type[Shape], page: type[Shape]
) -> None:
    """List, add, read, replace, and earlier versions, under `path`."""
    one = path.removesuffix("s").replace("-", " ")

    @require_role("admin", "staff")
    @shop_settings.arguments(PageArgs, location="query")
    @shop_settings.response(200, page)
    @shop_settings.alt_response(400, "BAD_REQUEST")
    def listed(args: dict[str, Any]) -> Response:
        docs = act.settings(dependencies(), kind)
        return json_answer(short_list_answer([kind.fields.shown(doc) for doc in docs], args, "id", [path]))

    @require_role("admin")
    @idempotent
    @shop_settings.arguments(body)
    @shop_settings.response(201, item)
    @shop_settings.alt_response(409, "CONFLICT")
    @audited(f"add {one}", "id", *_IDENTIFYING)
    def add(content: dict[str, Any]) -> Response:
        key = "" if kind.id_of else kept_id().lower()
        doc = act.add(dependencies(), kind, content, actor(), key, repeatable=is_repeatable())
        return document_answer(kind.fields, doc, 201, {"Location": f"/v1/admin/{path}/{doc['id']}"})

    @require_role("admin", "staff")
    @shop_settings.response(200, item)
    @shop_settings.alt_response(404, "NOT_FOUND")
    def read(id: str) -> Response:
        return document_answer(kind.fields, act.get(dependencies(), kind, id))

    @require_role("admin")
    @shop_settings.arguments(body)
    @shop_settings.response(200, item)
    @shop_settings.alt_response(404, "NOT_FOUND")
    @shop_settings.alt_response(409, "CONFLICT")
    @shop_settings.alt_response(412, "PRECONDITION_FAILED")
    @shop_settings.doc(parameters=[_IF_MATCH])
    @audited(f"change {one}", "id", *_IDENTIFYING)
    def replace(content: dict[str, Any], id: str) -> Response:
        deps = dependencies()
        before = act.get(deps, kind, id)
        check_if_match(etag_of(before["_rev"]))
        return document_answer(kind.fields, act.replace(deps, kind, before, content, actor()))

    @require_role("admin", "staff")
    @shop_settings.arguments(PageArgs, location="query")
    @shop_settings.response(200, page)
    @shop_settings.alt_response(400, "BAD_REQUEST")
    @shop_settings.alt_response(404, "NOT_FOUND")
    def history(args: dict[str, Any], id: str) -> Response:
        return _versions(kind, args, id)

    shop_settings.add_endpoint("GET", f"/{path}", listed, f"All {path}, by id")
    shop_settings.add_endpoint("POST", f"/{path}", add, f"A new one of the {path}")
    shop_settings.add_endpoint("GET", f"/{path}/<string:id>", read, f"One of the {path}")
    shop_settings.add_endpoint("PUT", f"/{path}/<string:id>", replace, f"A new version of one of the {path}")
    shop_settings.add_endpoint(
        "GET", f"/{path}/<string:id>/history", history, "Every version with who wrote it, the latest first"
    )


_add_endpoints(
    "shipping-methods",
    SHIPPING_METHODS,
    schemas.ShippingMethodContent,
    schemas.ShippingMethod,
    schemas.ShippingMethods,
)
_add_endpoints("tax-rates", TAX_RATES, schemas.TaxRateContent, schemas.TaxRate, schemas.TaxRates)
_add_endpoints("promotions", PROMOTIONS, schemas.PromotionContent, schemas.Promotion, schemas.Promotions)


@shop_settings.get("/promotions/<string:id>/uses")
@require_role("admin", "staff")
@shop_settings.response(200, schemas.PromotionUses)
@shop_settings.alt_response(404, "NOT_FOUND")
def promotion_uses(id: str) -> Response:
    """How often a promotion with a limit has been used: one partition query"""
    deps = dependencies()
    promotion = act.get(deps, PROMOTIONS, id)
    return json_answer({"used": used_of(deps, id), "limit": PROMOTIONS.fields.content(promotion)["limit"]})


@shop_settings.get("/settings")
@require_role("admin", "staff")
@shop_settings.response(200, schemas.ShopSettings)
@shop_settings.alt_response(404, "NOT_FOUND")
def read_shop() -> Response:
    """The shop's own settings; 404 while the environment's hold"""
    return document_answer(SHOP_KIND.fields, act.get(dependencies(), SHOP_KIND))


@shop_settings.put("/settings")
@require_role("admin")
@shop_settings.arguments(schemas.ShopSettingsContent)
@shop_settings.response(200, schemas.ShopSettings)
@shop_settings.alt_response(409, "CONFLICT")
@shop_settings.alt_response(412, "PRECONDITION_FAILED")
@shop_settings.doc(parameters=[_IF_MATCH])
@audited("change shop settings", "", *SHOP_KIND.fields.writable)
def save_shop(content: dict[str, Any]) -> Response:
    """A version of the shop's own settings"""
    deps = dependencies()
    before = act.shop(deps)
    check_preconditions(etag_of(before["_rev"]) if before else None)
    return document_answer(SHOP_KIND.fields, act.save_shop(deps, content, before, actor()))


@shop_settings.get("/settings/history")
@require_role("admin", "staff")
@shop_settings.arguments(PageArgs, location="query")
@shop_settings.response(200, schemas.ShopSettingsVersions)
@shop_settings.alt_response(400, "BAD_REQUEST")
@shop_settings.alt_response(404, "NOT_FOUND")
def shop_history(args: dict[str, Any]) -> Response:
    """Every version with who wrote it, the latest first"""
    return _versions(SHOP_KIND, args)


def _versions(kind: SettingKind, args: dict[str, Any], id: str = "") -> Response:
    items = [kind.fields.shown(doc) for doc in act.versions(dependencies(), kind, id)]
    return json_answer(short_list_answer(items, args, "edited", [kind.name, id]))
