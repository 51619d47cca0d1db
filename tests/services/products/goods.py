"""What the tests of search look for."""

from shared.couch import LANGUAGES
from tests.services.products.conftest import product

ENGLISH = LANGUAGES["en"]
SOFAS = ["Home", "Living Room", "Sofas & Beds"]
TABLES = ["Home", "Living Room", "Tables"]
SHIRTS = ["Clothing", "Men's", "Shirts, Tops"]

GOODS = [
    product(
        "sofa-red",
        taxonomy=SOFAS,
        name="Red leather sofa",
        brand="Acme",
        colours=["red"],
        description="For two people.",
        price={"amount": 45000, "currency": "GBP"},
    ),
    product(
        "sofa-blue",
        taxonomy=SOFAS,
        name="Blue sofa bed",
        brand="Nordic",
        colours=["blue"],
        description="Sleeps two, red cushions.",
        price={"amount": 38000, "currency": "GBP"},
    ),
    product(
        "stool",
        taxonomy=SOFAS,
        name="Footstool",
        brand="Acme",
        keywords=["sofa"],
        colours=["red", "blue"],
        price={"amount": 4900, "currency": "GBP"},
    ),
    product(
        "table",
        taxonomy=TABLES,
        name="Coffee table",
        brand="Nordic",
        description="Goes well with a leather sofa.",
        colours=["oak"],
        price={"amount": 9900, "currency": "GBP"},
    ),
    product(
        "cable",
        taxonomy=TABLES,
        name="Power cable 028",
        brand="Volt",
        price={"amount": 900, "currency": "GBP"},
    ),
    product(
        "shirt",
        taxonomy=SHIRTS,
        name="Women's café shirt",
        brand="O'Neill & Sons",
        colours=["white"],
        price={"amount": 2500, "currency": "GBP"},
    ),
    product(
        "odd",
        taxonomy=SHIRTS,
        name="constructor __proto__ toString AND OR NOT",
        brand="Öko",
        price={"amount": 2000, "currency": "GBP"},
    ),
]
