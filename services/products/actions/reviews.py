"""Reviews: by those who bought the product, once each."""

from typing import Any, Protocol

from services.products.actions.catalogue import NoSuchProduct, follow
from services.products.actions.maintenance import refresh
from services.products.documents import REVIEW, review_id
from services.products.store import Store
from shared.couch import Doc, NoSuchDocument, Page
from shared.errors import Conflict, Forbidden


class NotABuyer(Forbidden):
    code, title = "not_a_buyer", "Only buyers review a product"


class AlreadyReviewed(Conflict):
    code, title = "already_reviewed", "You have reviewed this product"


class Buyers(Protocol):
    """Who bought what: see `clients.Orders`."""

    def bought(self, userid: str, productid: str) -> bool: ...


def add(
    store: Store,
    buyers: Buyers,
    productid: str,
    userid: str,
    review: dict[str, Any],
    date: str,
    request: str | None = None,
) -> Doc:
    """One review by one buyer; rating and rank of the product follow; `request` makes a retry find what it wrote.

    Raises NoSuchProduct, NotABuyer, AlreadyReviewed.
    """
    product = _product(store, productid)
    if not buyers.bought(userid, productid):
        raise NotABuyer("Only who bought this product can review it.")
    taxonomy = product["taxonomy"]
    fields = {"stars": review["stars"], "title": review["title"], "text": review["text"]}
    doc = REVIEW.new(
        review_id(taxonomy, productid, userid),
        productid=productid,
        taxonomy=taxonomy,
        userid=userid,
        date=date,
        **fields,
        **({"request": request} if request else {}),
    )
    if not store.reviews.add(doc):
        doc = store.catalogue.get(doc["_id"])
        if not request or doc.get("request") != request:
            raise AlreadyReviewed("One review of a product by each buyer.")
    refresh(store, [follow(store, product, date)["_id"]])
    return public(doc)


def eligibility(store: Store, buyers: Buyers, productid: str, userid: str) -> dict[str, Any]:
    """Whether this user may review the product now, and why not: {may_review, reason}. Raises NoSuchProduct."""
    product = _product(store, productid)
    if store.catalogue.get_many([review_id(product["taxonomy"], productid, userid)]):
        return {"may_review": False, "reason": AlreadyReviewed.code}
    if not buyers.bought(userid, productid):
        return {"may_review": False, "reason": NotABuyer.code}
    return {"may_review": True, "reason": None}


def newest(store: Store, productid: str, limit: int, cursor: Any) -> Page:
    """Reviews of a product, the newest first. Raises NoSuchProduct."""
    return of(store, _product(store, productid), limit, cursor)


def first_page(store: Store, product: Doc, limit: int) -> Page:
    """The newest reviews for the product's own page: no database call for a product without any, or when they are kept."""
    if not product["rating"]["count"]:
        return Page([], None)
    kept = store.review_pages.get(product, limit)
    return (
        kept if kept is not None else store.review_pages.put(product, limit, of(store, product, limit, None))
    )


def of(store: Store, product: Doc, limit: int, cursor: Any) -> Page:
    page = store.reviews.newest_of(product["taxonomy"], product["productid"], limit, cursor)
    return Page([public(doc) for doc in page.items], page.next)


def public(doc: Doc) -> Doc:
    """As everybody sees it: not by whom."""
    return {name: doc[name] for name in ("productid", "stars", "title", "text", "date")}


def _product(store: Store, productid: str) -> Doc:
    try:
        return store.catalogue.by_productid(productid)
    except NoSuchDocument:
        raise NoSuchProduct(f"There is no product {productid}.") from None
