"""The attributes that products are given: checked by the types that are at hand."""

from services.products.declarations.product import Product
from services.products.dependencies import Dependencies
from services.products.rules.product import BadProduct, complete
from shared.couch import Doc


def completed(deps: Dependencies, content: Doc, before: Product | None = None) -> Doc:
    """The content as it is stored over `before`: pictures settled, attributes typed. Raises BadProduct.

    No database call, unless the attributes do not fit: then the types are read again, for another process may have just changed them.
    """
    content = complete(content, before)
    said = content["product_type"], content["attributes"]
    had = (before.get("product_type", ""), before.get("attributes", {})) if before else ("", {})
    if said == had:
        return content
    attributes, errors = deps.product_types.loaded().check(content["product_type"], content["attributes"])
    if errors:
        reread = deps.product_types.reread()
        attributes, errors = reread.check(content["product_type"], content["attributes"])
    if errors:
        summary = "; ".join(f"{field}: {' '.join(words)}" for field, words in sorted(errors.items()))
        raise BadProduct(summary, errors=errors)
    return content | {"attributes": attributes}
