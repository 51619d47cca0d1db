"""Whose a SKU is. A claim document, whose `_id` is made of the SKU, makes it unique; CouchDB has no other means.

It is written before the product that is to have the SKU, and deleted after the product has it no more. A crash in between
leaves a claim that no product answers for: whoever wants the SKU next takes it over once it is two minutes old.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from services.products.declarations.product import Product
from services.products.declarations.related_documents import SkuClaim
from services.products.dependencies import Dependencies
from services.products.documents import SKU_CLAIM, sku_claim_id
from services.products.rules.variants import skus_of
from shared.clock import now, parse, timestamp
from shared.couch import Document
from shared.errors import Conflict, Unavailable

_TAKEOVER_AFTER = timedelta(minutes=2)


class SkuTaken(Conflict):
    code, title = "sku_taken", "Another product has this SKU"


def own_skus(content: Document) -> list[str]:
    """Those that a product needs a claim for: its productid is its own already."""
    return [sku for sku in skus_of(content) if sku != content["productid"]]


def claim(deps: Dependencies, productid: str, skus: Sequence[str]) -> None:
    """Makes these SKUs belong to a product. 1 global query and 1 write. Raises SkuTaken."""
    found = deps.catalogue.all_by_productid(skus, allow_stale=False)
    owners = {sku: owner for sku, owner in owners_of(found).items() if owner != productid}
    if owners := owners or claim_all(deps, dict.fromkeys(skus, productid)):
        raise taken(owners)


def taken(owners: Mapping[str, str]) -> SkuTaken:
    """`owners`: product by SKU."""
    sku, owner = next(iter(owners.items()))
    return SkuTaken(f"{sku} is an article number of product {owner} already.", skus=sorted(owners))


def owners_of(found: Mapping[str, Product]) -> dict[str, str]:
    """Which product has which SKU now; `found` are the products by the SKU that they have or had."""
    return {sku: doc["productid"] for sku, doc in found.items() if _has(doc, sku)}


def claim_all(deps: Dependencies, wanted: Mapping[str, str]) -> dict[str, str]:
    """Claims SKUs that no product has for products, in 1 write; which of them were claimed by another product meanwhile."""
    date = timestamp()
    claims = [
        SKU_CLAIM.build(sku_claim_id(sku), sku=sku, productid=productid, claimed=date)
        for sku, productid in wanted.items()
    ]
    written = deps.catalogue.put_many(claims) if claims else []
    if deps.catalogue.take_back_unsure(written):
        raise Unavailable("Too few database nodes answer to give a SKU safely; try again.", retry_after=2)
    refused = [each for each, row in zip(claims, written, strict=True) if row.error]
    return _held_by_others(deps, refused) if refused else {}


def release(deps: Dependencies, productid: str, skus: Iterable[str]) -> None:
    """Frees what a product has no more; may be repeated."""
    claims = deps.catalogue.get_many([sku_claim_id(sku) for sku in skus]).values()
    gone = [
        {"_id": each["_id"], "_rev": each["_rev"], "_deleted": True}
        for each in claims
        if each["productid"] == productid
    ]
    if gone:
        deps.catalogue.put_many(gone)


def _held_by_others(deps: Dependencies, refused: Sequence[SkuClaim]) -> dict[str, str]:
    """Takes abandoned claims over, and those that are this product's own."""
    stored = deps.catalogue.get_many([each["_id"] for each in refused])
    foreign = [
        (each, stored[each["_id"]])
        for each in refused
        if each["_id"] in stored and stored[each["_id"]]["productid"] != each["productid"]
    ]
    fresh = {
        claim["sku"]: claim["productid"]
        for _, claim in foreign
        if parse(claim["claimed"]) > now() - _TAKEOVER_AFTER
    }
    abandoned = [{**each, "_rev": claim["_rev"]} for each, claim in foreign if each["sku"] not in fresh]
    rows = deps.catalogue.put_many(abandoned) if abandoned else []
    lost = [each["sku"] for each, row in zip(abandoned, rows, strict=True) if row.error]
    gone = [each["sku"] for each in refused if each["_id"] not in stored]
    return fresh | dict.fromkeys([*lost, *gone], "(being edited just now)")


def _has(product: Product, sku: str) -> bool:
    return product["productid"] == sku or sku in skus_of(product)
