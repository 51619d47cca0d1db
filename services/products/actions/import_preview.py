"""What an import would do, for a dry run: nothing is written, and no picture fetched."""

from services.products.actions.importing import (
    Edit,
    Outcome,
    ProductLine,
    completed_lines,
    refuse_lines,
    with_known_pictures,
)
from services.products.actions.skus import own_skus, owners_of
from services.products.dependencies import Dependencies
from services.products.documents import product_id
from services.products.rules.product import is_product, same_content


def preview(deps: Dependencies, batch: list[ProductLine], edit: Edit, outcome: Outcome) -> None:
    """Counts what would be created, updated or refused. 1 read, and 1 global query for what is new."""
    ids = {line.number: product_id(line.content["taxonomy"], line.content["productid"]) for line in batch}
    found = deps.catalogue.get_many(list(ids.values()))
    products = {docid: doc for docid, doc in found.items() if is_product(doc)}
    there = {number: products[docid] for number, docid in ids.items() if docid in products}
    batch = with_known_pictures(deps, batch, {line.number: there.get(line.number) for line in batch}, outcome)
    for line in batch:
        if line.number not in there:
            continue
        doc = there[line.number]
        for wanted in completed_lines(deps, line, doc, outcome):
            if same_content(doc, wanted.content):
                outcome.unchanged += 1
            else:
                outcome.updated += 1
    if absent := [line for line in batch if line.number not in there]:
        _preview_absent(deps, absent, outcome)


def _preview_absent(deps: Dependencies, absent: list[ProductLine], outcome: Outcome) -> None:
    asked = {each for line in absent for each in (line.content["productid"], *own_skus(line.content))}
    known = deps.catalogue.all_by_productid(sorted(asked), allow_stale=False)
    fresh = []
    for line in absent:
        productid = line.content["productid"]
        before = known.get(productid)
        if before and before["productid"] == productid:
            outcome.updated += len(completed_lines(deps, line, before, outcome))
        else:
            fresh += completed_lines(deps, line, None, outcome)
    outcome.created += len(refuse_lines(fresh, owners_of(known), outcome))
