"""What the prices of a product were, and who changed them."""

from flask import render_template

from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.visitor import logged_in, token
from services.storefront.rules.price_history import price_label
from shared.types import Json


@desk.get("/products/<productid>/prices")
def prices(productid: str) -> str:
    access, products = token(), services().products
    found = services().together(
        product=lambda: products.product(productid, access),
        changes=lambda: products.price_history(access, productid),
        names=lambda: _names(access),
    )
    return render_template("desk/prices.html", **found, price_label=price_label)


def _names(access: str) -> dict[str, str]:
    """Of who works here, by userid; admins alone may ask."""
    visitor = logged_in()
    people: list[Json] = []
    if visitor is not None and "admin" in visitor.roles:
        people = services().users.staff(access)["items"]
    return {each["userid"]: each["name"] for each in people}
