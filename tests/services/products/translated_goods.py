"""Goods with German names, descriptions and labels, and the type of one of them."""

from tests.services.products.conftest import product
from tests.services.products.variants import shirt

GARDEN, WEAR = ["Garden", "Tools"], ["Clothing", "Shirts"]
LABELS = {"Size": "Größe", "Colour": "Farbe", "red": "rot", "blue": "blau"}
SHIRT = shirt(
    "hemd",
    taxonomy=WEAR,
    name="Linen blouse",
    description="Light and airy.",
    colours=["red", "blue"],
    product_type="wear",
    attributes={"fabric": "linen", "care": "Wash cold", "weight": 140},
    translations={
        "de": {
            "name": "Leinenbluse",
            "description": "Leicht und luftig.",
            "keywords": ["Sommermode"],
            "labels": LABELS,
            "attributes": {"care": "Kalt waschen"},
        }
    },
)
GOODS = [
    product(
        "shears",
        taxonomy=GARDEN,
        name="Hedge shears",
        description="Cuts any hedge.",
        translations={"de": {"name": "Heckenschere", "description": "Schneidet jede Hecke."}},
    ),
    product(
        "hoe",
        taxonomy=GARDEN,
        name="Weeding hoe",
        translations={"de": {"name": "Unkrauthacke"}, "fr": {"name": "Binette"}},
    ),
    product("bucket", taxonomy=GARDEN, name="Zinc bucket", translations={"de": {"name": "Eimer aus Zink"}}),
    product("kneeler", taxonomy=GARDEN, name="Kneeler", description="Nobody has translated it."),
    SHIRT,
]
TYPE = {
    "code": "wear",
    "name": "Clothes",
    "attributes": [
        {"code": "fabric", "name": "Fabric", "kind": "one_of", "values": ["linen", "cotton"]},
        {"code": "care", "name": "Care", "kind": "text"},
        {"code": "weight", "name": "Weight", "kind": "number", "unit": "g"},
    ],
    "translations": {
        "de": {
            "names": {"fabric": "Stoff", "care": "Pflege"},
            "labels": {"linen": "Leinen", "cotton": "Baumwolle"},
        }
    },
}
