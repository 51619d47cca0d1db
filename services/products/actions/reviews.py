"""Reviews: by those who bought the product, once each."""

from typing import Any, cast

from services.products.actions.catalogue import NoSuchProduct, follow
from services.products.actions.invalidation import invalidate_pages
from services.products.actions.maintenance import refresh
from services.products.declarations.product import Product
from services.products.declarations.related_documents import Review
from services.products.dependencies import Dependencies
from services.products.documents import REVIEW, REVIEW_FIELDS, review_id
from services.products.rules.publishing import is_public
from shared.couch import Doc, NoSuchDocument, Page
from shared.errors import Conflict, Forbidden


class NotABuyer(Forbidden):
    code, title = "not_a_buyer", "Only buyers review a product"


class AlreadyReviewed(Conflict):
    code, title = "already_reviewed", "You have reviewed this product"


def add(
    deps: Dependencies,
    productid: str,
    userid: str,
    review: dict[str, Any],
    date: str,
    request: str | None = None,
) -> Doc:
    """One review by one buyer; rating and rank of the product follow; `request` makes a retry find what it wrote.

    Raises NoSuchProduct, NotABuyer, AlreadyReviewed.
    """
    product = _product(deps, productid)
    productid = product["productid"]
    if not deps.orders.bought(userid, productid):
        raise NotABuyer("Only who bought this product can review it.")
    taxonomy = product["taxonomy"]
    fields = {"stars": review["stars"], "title": review["title"], "text": review["text"]}
    doc = REVIEW.build(
        review_id(taxonomy, productid, userid),
        productid=productid,
        taxonomy=taxonomy,
        userid=userid,
        date=date,
        **fields,
        **({"request": request} if request else {}),
    )
    if not deps.reviews.add(doc):
        doc = cast(Review, deps.catalogue.get(doc["_id"]))
        if not request or doc.get("request") != request:
            raise AlreadyReviewed("One review of a product by each buyer.")
    product = follow(deps, product, date)
    refresh(deps, [product["_id"]])
    invalidate_pages(deps, [product])
    return public(doc)


def forget_person(deps: Dependencies, userid: str) -> int:
    """Empties the texts of a person's reviews, here and where they are kept, and has old revisions removed; how many there were."""
    written = [review for review in deps.reviews.of_person(userid) if review["title"] or review["text"]]
    deps.reviews.replace([{**review, "title": "", "text": ""} for review in written])
    for review in written:
        product = _product(deps, review["productid"])
        deps.review_pages.forget(product)
        invalidate_pages(deps, [product])
    deps.reviews.compact()
    return len(written)


def eligibility(deps: Dependencies, productid: str, userid: str) -> dict[str, Any]:
    """Whether this user may review the product now, and why not: {may_review, reason}. Raises NoSuchProduct."""
    product = _product(deps, productid)
    productid = product["productid"]
    if deps.catalogue.get_many([review_id(product["taxonomy"], productid, userid)]):
        return {"may_review": False, "reason": AlreadyReviewed.code}
    if not deps.orders.bought(userid, productid):
        return {"may_review": False, "reason": NotABuyer.code}
    return {"may_review": True, "reason": None}


def newest(deps: Dependencies, productid: str, limit: int, cursor: Any) -> Page:
    """Reviews of a product, the newest first; they outlast its sale. Raises NoSuchProduct."""
    product = _product(deps, productid)
    if not (is_public(product) or product["rating"]["count"]):
        raise NoSuchProduct(f"There is no product {productid}.")
    return of(deps, product, limit, cursor)


def first_page(deps: Dependencies, product: Product, limit: int) -> Page:
    """The newest reviews for the product's own page: no database call for a product without any, or when they are kept."""
    if not product["rating"]["count"]:
        return Page([], None)
    kept = deps.review_pages.get(product, limit)
    return kept if kept is not None else deps.review_pages.put(product, limit, of(deps, product, limit, None))


def of(deps: Dependencies, product: Product, limit: int, cursor: Any) -> Page:
    page = deps.reviews.newest_of(product["taxonomy"], product["productid"], limit, cursor)
    return Page([public(doc) for doc in page.items], page.next)


def public(doc: Review) -> Doc:
    """As everybody sees it: not by whom."""
    return REVIEW_FIELDS.shown(doc)


def _product(deps: Dependencies, productid: str) -> Product:
    try:
        return deps.catalogue.by_productid(productid)
    except NoSuchDocument:
        raise NoSuchProduct(f"There is no product {productid}.") from None
