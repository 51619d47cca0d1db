"""What a product is: checked on the way in, shaped on the way out, compared with what is there."""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any, Final

import orjson

from services.products.documents import FORWARD, PRODUCT, partition_of, product_id
from shared.couch import Doc
from shared.errors import Invalid
from shared.money import CURRENCIES, money

CONTENT: Final = (
    "taxonomy",
    "keywords",
    "productid",
    "brand",
    "name",
    "description",
    "colours",
    "price",
    "delivery",
    "image",
)
"""What an admin writes; `stock` and `rating` are summaries of other documents."""

PUBLIC: Final = (*CONTENT, "stock", "rating")
NO_RATING: Final = {"average": None, "count": 0}
PRODUCTID: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
IMAGE: Final = r"^(|https?://[A-Za-z0-9._-]+(:[0-9]{1,5})?([/?#][^\s\\<>\"]*)?|/([^\s\\<>\"/][^\s\\<>\"]*)?)$"
"""An address with a plain host, or a path of this site: `//host`, `/\\host` and names before an `@` lead elsewhere."""
RESERVED_IDS: Final = frozenset(
    {"best-rated", "export", "import", "imports", "lookup", "low-stock", "suggest"}
)
"""Words that are routes of the API, not products."""

MOST_LEVELS, MOST_STOCK, MOST_PRICE, MOST_KEY = 12, 10**9, 10**12, 1000
MOST_LOOKED_UP: Final = 200
"""As many lines as a basket holds."""

_PRODUCTID = re.compile(PRODUCTID)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_IMAGE = re.compile(IMAGE)
_KNOWN = frozenset(PUBLIC)
_public_values = itemgetter(*PUBLIC)


class BadProduct(Invalid):
    code, title = "invalid_product", "Some fields of the product are wrong"


class _Checks:
    """Reads the fields of one product and collects what is wrong with them."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data, self.errors = data, {}

    def wrong(self, field: str, message: str) -> None:
        self.errors.setdefault(field, []).append(message)

    def text(self, field: str, most: int, *, least: int = 0) -> str:
        value = self.data.get(field)
        if value is None and least == 0:
            return ""
        if not isinstance(value, str):
            self.wrong(field, "Missing." if value is None else "Not a text.")
            return ""
        return self._fitting(field, value, least, most)

    def texts(self, field: str, most_items: int, most: int, *, least: int = 0) -> list[str]:
        value = self.data.get(field)
        if value is None and least == 0:
            return []
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            self.wrong(field, "Missing." if value is None else "Not a list of texts.")
            return []
        if not least <= len(value) <= most_items:
            self.wrong(field, f"Must have {least} to {most_items} entries.")
        return [self._fitting(field, each, 1, most) for each in value]

    def money(self, field: str, default: Any = None) -> dict[str, Any]:
        value = default if self.data.get(field) is None else self.data[field]
        if not isinstance(value, dict):
            self.wrong(
                field,
                "Missing: write {amount, currency}, the amount in minor units."
                if value is None
                else "Not {amount, currency}.",
            )
            return money(0, "")  # type: ignore[return-value]
        amount, currency = value.get("amount"), value.get("currency")
        if not _whole(amount) or not 0 <= amount <= MOST_PRICE:
            self.wrong(
                field,
                f"amount must be a whole number of minor units (1250 for 12.50 GBP), 0 to {MOST_PRICE}.",
            )
        if not isinstance(currency, str) or currency not in CURRENCIES:
            self.wrong(field, "currency must be an ISO 4217 code such as GBP.")
        if value.keys() - {"amount", "currency"}:
            self.wrong(field, "Only amount and currency belong here.")
        return {"amount": amount, "currency": currency}

    def _fitting(self, field: str, value: str, least: int, most: int) -> str:
        # One spelling of an accented letter, for the database sorts both as equal; an address is somebody else's to spell.
        text = value.strip() if field == "image" else unicodedata.normalize("NFC", value.strip())
        if not least <= len(text) <= most:
            self.wrong(field, f"Must be {least} to {most} characters long.")
        if _CONTROL.search(text):
            self.wrong(field, "Control characters are not accepted.")
        return text


def checked(data: Any) -> tuple[Doc, int | None]:
    """The content of a product and, when given, the stock it starts with. Raises BadProduct naming every wrong field.

    `rating` is accepted and left aside, so that what was exported or read can be sent back.
    """
    if not isinstance(data, dict):
        raise BadProduct("A product is a JSON object.", errors={"_schema": ["Not an object."]})
    checks = _Checks(data)
    for field in data.keys() - _KNOWN:
        checks.wrong(str(field), "Unknown field.")
    content = _content(checks)
    stock = data.get("stock")
    if stock is not None and not (_whole(stock) and 0 <= stock <= MOST_STOCK):
        checks.wrong("stock", f"Must be a whole number, 0 to {MOST_STOCK}.")
    if checks.errors:
        summary = "; ".join(
            f"{field}: {' '.join(messages)}" for field, messages in sorted(checks.errors.items())
        )
        raise BadProduct(summary, errors=checks.errors)
    return content, stock


def _content(checks: _Checks) -> Doc:
    price = checks.money("price")
    content = {
        "taxonomy": checks.texts("taxonomy", MOST_LEVELS, 200, least=1),
        "keywords": checks.texts("keywords", 50, 100),
        "productid": checks.text("productid", 64, least=1),
        "brand": checks.text("brand", 120),
        "name": checks.text("name", 500, least=1),
        "description": checks.text("description", 20_000),
        "colours": checks.texts("colours", 50, 60),
        "price": price,
        "delivery": checks.money("delivery", money(0, price["currency"])),
        "image": checks.text("image", 2000),
    }
    if content["productid"] and not _PRODUCTID.fullmatch(content["productid"]):
        checks.wrong(
            "productid",
            "Only letters, digits, dot, dash and underscore, at most 64, a letter or digit first.",
        )
    if content["productid"] in RESERVED_IDS:
        checks.wrong("productid", "This word is taken by the API; choose another id.")
    if any("#" in level for level in content["taxonomy"]):
        checks.wrong("taxonomy", "A level must not hold `#`: that joins the levels of a category's path.")
    if len(partition_of(content["taxonomy"]).encode()) > MOST_KEY:
        checks.wrong("taxonomy", f"All levels together must fit into {MOST_KEY} bytes.")
    if (
        content["delivery"]["currency"] != price["currency"]
        and "delivery" not in checks.errors
        and "price" not in checks.errors
    ):
        checks.wrong("delivery", "Must be in the currency of the price.")
    if "image" not in checks.errors and not _IMAGE.fullmatch(content["image"]):
        checks.wrong(
            "image",
            "Must be empty, an address such as https://pictures.example/mug.jpg, or a path that begins with one slash.",
        )
    return content


def document(
    content: Doc, moment: str, *, stock: int = 0, rating: Doc = NO_RATING, rank: float = 0, **more: Any
) -> Doc:
    """The document of a product with this content."""
    docid = product_id(content["taxonomy"], content["productid"])
    return PRODUCT.new(docid, **content, stock=stock, rating=rating, rank=rank, edited=moment, **more)


def replaced(doc: Doc, content: Doc, moment: str) -> Doc:
    """The document with new content; what was summed up about it stays."""
    return {**doc, **content, "edited": moment}


def public(doc: Doc) -> Doc:
    """The product as the API shows it."""
    return dict(zip(PUBLIC, _public_values(doc), strict=True))


def content_of(doc: Doc) -> Doc:
    return {field: doc[field] for field in CONTENT}


def same_content(doc: Doc, content: Doc) -> bool:
    return all(doc[field] == content[field] for field in CONTENT)


def etag(doc: Doc) -> str:
    """`"content.summary"`: the first part changes when an admin edits, the second when stock or rating change."""
    summary = orjson.dumps([doc["stock"], doc["rating"]])
    return f'"{_short(orjson.dumps(content_of(doc)))}.{_short(summary)}"'


def still_matches(if_match: str | None, doc: Doc) -> bool:
    """Whether an edit based on the version(s) in `If-Match` may go on: stock and rating do not count."""
    if if_match is None or if_match.strip() == "*":
        return True
    content = _short(orjson.dumps(content_of(doc)))
    return any(tag.strip().strip('"').partition(".")[0] == content for tag in if_match.split(","))


def one_each(docs: list[Doc], key: Callable[[Doc], str] = lambda doc: doc["productid"]) -> list[Doc]:
    """Each product once: while one is moved between categories it is in both, and the place it moves to counts."""
    chosen: dict[str, Doc] = {}
    for doc in docs:
        present = chosen.get(key(doc))
        if present is None or supersedes(doc, present):
            chosen[key(doc)] = doc
    return list(chosen.values())


def is_product(doc: Doc) -> bool:
    """Not the forward that it left in a category where it was before."""
    return doc["type"] == PRODUCT.name


def forward(doc: Doc, moved_to: str, moment: str) -> Doc:
    """What takes the place of a product that is in another category now."""
    left = FORWARD.new(
        doc["_id"], productid=doc["productid"], taxonomy=doc["taxonomy"], moved_to=moved_to, edited=moment
    )
    return left | {"_rev": doc["_rev"]}


def supersedes(doc: Doc, other: Doc) -> bool:
    """Whether `doc` is where `other` was moved to."""
    return doc.get("moved_from") == other["_id"] and doc["edited"] >= other["edited"]


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _short(content: bytes) -> str:
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()[:12]
