"""Every form of the shop as data: the template draws it, `read` takes only the fields named here."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from services.storefront.rules.messages import message
from services.storefront.rules.publishing import STATUSES
from shared.errors import AisleError, Invalid

_QUANTITY = re.compile(r"-?[0-9]{1,6}")
_WHOLE = re.compile(r"[+-]?\d{1,9}")


@dataclass(frozen=True)
class Field:
    """One input. `kind` is an input type, or "textarea", "select", "check"."""

    name: str
    label: str
    kind: str = "text"
    required: bool = True
    autocomplete: str = ""
    help: str = ""
    max_length: int = 200
    min_length: int = 0
    options: tuple[tuple[str, str], ...] = ()
    inputmode: str = ""


@dataclass
class Form:
    """Fields with what was typed and what was wrong with it; `general` is what is wrong with no field in particular."""

    fields: tuple[Field, ...]
    values: dict[str, str] = field(default_factory=dict)
    errors: dict[str, list[str]] = field(default_factory=dict)
    general: str = ""
    restored: bool = False

    def read(self, sent: Mapping[str, str]) -> "Form":
        """Takes the sent values over and checks what can be checked here; passwords are not shown again."""
        for item in self.fields:
            text = sent.get(item.name, "")
            text = text if item.kind == "password" else text.strip()
            self.values[item.name] = text
            if wrong := _wrong(item, text):
                self.errors[item.name] = [wrong]
        return self

    def restore(self, values: Mapping[str, str]) -> "Form":
        """Shows again what was typed before; nothing is checked."""
        for item in self.fields:
            if item.kind != "password":
                self.values[item.name] = values.get(item.name, "")
        self.restored = True
        return self

    @property
    def open(self) -> bool:
        """Whether it is being filled in: a page does not fold it away."""
        return self.restored or not self.is_valid

    @property
    def is_valid(self) -> bool:
        return not self.errors and not self.general

    def add_errors(self, error: Invalid) -> None:
        """Puts a service's complaints beside their fields, the others on top."""
        names = {item.name for item in self.fields}
        for path, messages in error.errors.items():
            known = next((part for part in reversed(path.split(".")) if part in names), None)
            if known:
                self.errors.setdefault(known, []).extend(messages)
            else:
                self.general = " ".join([self.general, *messages]).strip()
        if self.is_valid:
            self.general = message(error)


def _wrong(item: Field, text: str) -> str:
    if item.required and not text:
        return f"{item.label} is missing."
    if text and len(text) < item.min_length:
        return f"At least {item.min_length} characters, please."
    if len(text) > item.max_length:
        return f"At most {item.max_length} characters, please."
    if item.kind == "email" and text and "@" not in text[1:-1]:
        return "An e-mail address looks like name@example.com."
    if item.kind == "select" and text and text not in dict(item.options):
        return "Choose one of the list."
    return ""


EMAIL = Field("email", "E-mail", "email", autocomplete="email", max_length=254)
NEW_PASSWORD = Field(
    "password",
    "Password",
    "password",
    autocomplete="new-password",
    min_length=8,
    max_length=128,
    help="8 characters or more; not a common password, and not your name or e-mail.",
)

REGISTER = (Field("name", "Your name", autocomplete="name", max_length=100), EMAIL, NEW_PASSWORD)
LOGIN = (EMAIL, Field("password", "Password", "password", autocomplete="current-password", max_length=128))
ASK_RESET = (EMAIL,)
RESET = (NEW_PASSWORD,)
CONFIRM = (
    Field(
        "password",
        "The password you chose when you registered",
        "password",
        autocomplete="current-password",
        max_length=200,
    ),
)
CONFIRM_NEW = (
    Field(
        "new_password",
        "A password of your own",
        "password",
        autocomplete="new-password",
        min_length=8,
        max_length=128,
        help=NEW_PASSWORD.help,
    ),
)
PROFILE = (Field("name", "Your name", autocomplete="name", max_length=100),)
ERASE = (Field("password", "Your password", "password", autocomplete="current-password", max_length=200),)

REVIEW = (
    Field(
        "stars",
        "Your rating",
        "select",
        options=(("", "Choose one"), *((str(number), f"{number} of 5") for number in (5, 4, 3, 2, 1))),
    ),
    Field("title", "In a few words", required=False, max_length=100),
    Field("text", "What should others know?", "textarea", required=False, max_length=2000),
)

PRODUCT = (
    Field(
        "productid", "Product id", max_length=60, help="Letters, digits, - and _. It cannot be changed later."
    ),
    Field("name", "Name"),
    Field("brand", "Brand", required=False),
    Field("taxonomy", "Category", help="From the department down, joined by #: Home#Kitchen#Mugs"),
    Field("description", "Description", "textarea", required=False, max_length=20000),
    Field(
        "related",
        "Goes well with",
        required=False,
        max_length=1400,
        help="Ids of products, separated by commas; what is bought with it comes after them by itself.",
    ),
    Field("status", "Status", "select", required=False, options=STATUSES),
    Field(
        "kind",
        "What it is",
        "select",
        required=False,
        options=(("goods", "Goods"), ("gift_card", "A gift card worth its price")),
        help="A gift card has no delivery and no tax; its code goes out by e-mail.",
    ),
    Field(
        "publish_from",
        "Publish from",
        "datetime-local",
        required=False,
        max_length=16,
        help="Day and time in UTC. Not shown before; a draft becomes active then.",
    ),
    Field("keywords", "Search words", required=False, max_length=500, help="Separated by commas."),
    Field("colours", "Colours", required=False, help="Separated by commas."),
    Field("price", "Price", inputmode="decimal", max_length=20),
    Field("delivery", "Delivery charge", inputmode="decimal", max_length=20),
    Field("currency", "Currency", max_length=3, help="Three letters: GBP, EUR, USD ..."),
    Field(
        "prices", "Prices in other currencies", required=False, max_length=500, help="EUR 17.90; USD 19.99"
    ),
    Field(
        "delivery_prices",
        "Delivery in other currencies",
        required=False,
        max_length=500,
        help="EUR 3.90; needed for each currency where delivery is not free.",
    ),
    Field(
        "compare_at_prices",
        "Compared with",
        required=False,
        max_length=500,
        help="Shown struck through, such as a recommended price: GBP 20.00; EUR 23.00",
    ),
    Field(
        "group_prices",
        "Prices of customer groups",
        required=False,
        max_length=2000,
        help="Where they are lower: trade GBP 12.00; trade EUR 13.90; friends GBP 11.00",
    ),
    Field("sale", "Sale price", required=False, max_length=500, help="GBP 9.99; EUR 11.90"),
    Field(
        "sale_from",
        "Sale from",
        "datetime-local",
        required=False,
        max_length=16,
        help="UTC. At once when empty.",
    ),
    Field("sale_until", "Sale until", "datetime-local", required=False, max_length=16, help="UTC."),
    Field(
        "image",
        "Picture address",
        required=False,
        max_length=2000,
        help="Such as https://pictures.example/mug.jpg, or a path on this site. Shown while there is no picture above.",
    ),
    Field("pictures", "Pictures", "file", required=False),
)
PRODUCT_TYPE = (
    Field(
        "code", "Code", max_length=40, help="Small letters, digits, - and _: bag. It cannot be changed later."
    ),
    Field("name", "Name", max_length=100),
)
CATEGORY = (
    Field(
        "path",
        "Category",
        max_length=2500,
        help="From the department down, joined by #: Home#Kitchen#Mugs",
    ),
    Field("label", "Label", required=False, help="As customers read it; its last name when empty."),
    Field(
        "position",
        "Place",
        required=False,
        inputmode="numeric",
        max_length=4,
        help="A number among those beside it; those without one come behind, by name.",
    ),
    Field("text", "Text", "textarea", required=False, max_length=2000, help="Above its products."),
    Field(
        "picture",
        "Picture address",
        required=False,
        max_length=2000,
        help="Such as https://pictures.example/mugs.jpg, or a path on this site.",
    ),
    Field("file", "Or a picture of yours", "file", required=False),
    Field(
        "moved_to",
        "Moved to",
        required=False,
        max_length=2500,
        help="Another category: old addresses lead there for good. Its products are moved at Products.",
    ),
)
NEW_PRODUCT = (
    *PRODUCT,
    Field(
        "stock",
        "Stock to begin with",
        required=False,
        inputmode="numeric",
        max_length=9,
        help="0 when left empty.",
    ),
)
STOCK = (
    Field(
        "delta",
        "Add or take away",
        inputmode="numeric",
        max_length=9,
        help="12 adds twelve, -3 takes three away.",
    ),
    Field("reason", "Why", help="Such as: delivery from the supplier, broken."),
)
STOCK_CHANGES = (
    Field(
        "lines",
        "A line for each SKU",
        "textarea",
        required=False,
        max_length=100_000,
        help="mug-1 12 adds twelve, shirt-M-red -3 takes three away, mug-1 = 7 says that seven were counted.",
    ),
    Field("file", "Or a file of such lines (CSV)", "file", required=False),
    Field("reason", "Why", help="Such as: delivery from the supplier, counted."),
)
QUERY = Field(
    "query", "Query", max_length=100, help="What customers type. Plurals and capital letters do not matter."
)
SYNONYM = (
    QUERY,
    Field("synonyms", "Synonyms", max_length=2000, help="Separated by commas; each a word or several."),
    Field(
        "one_way",
        "One way only: who searches for a synonym does not find the query's",
        "check",
        required=False,
    ),
)
SYNONYM_LINES = (
    Field(
        "lines",
        "A line for each",
        "textarea",
        max_length=20_000,
        help="sofa = settee, couch; one way only: trainers > running shoes. At most 20 lines; each replaces what there is for its query.",
    ),
)
REDIRECT = (
    QUERY,
    Field(
        "category",
        "Department",
        required=False,
        max_length=2500,
        help="From the top, joined by #: Home#Kitchen#Mugs",
    ),
    Field(
        "address",
        "Or a page",
        required=False,
        max_length=1000,
        help="A path of this shop, such as /product/mug-1.",
    ),
)
PIN = (
    QUERY,
    Field(
        "productids",
        "Products",
        max_length=700,
        help="Their ids in the order to show them, separated by commas; at most 10.",
    ),
)
SHOP_EXPORT = (
    Field(
        "format",
        "What the file is",
        "select",
        required=False,
        options=(
            ("", "NDJSON, as this shop exports it"),
            ("shopify", "Shopify's product export (CSV)"),
            ("woocommerce", "WooCommerce's product export (CSV)"),
        ),
    ),
    Field("currency", "Currency of its prices", max_length=3, help="Such a CSV file does not name it."),
    Field(
        "untracked_stock",
        "Stock of what the other shop does not count",
        required=False,
        inputmode="numeric",
        max_length=9,
    ),
    Field(
        "pictures",
        "Pictures",
        "select",
        options=(
            ("fetch", "Fetch them from their addresses and keep them here"),
            ("reference", "Show the first from where it is"),
            ("none", "Leave them out"),
        ),
    ),
    Field("dry_run", "Try it only: say what would happen and write nothing", "check", required=False),
)
HIDDEN_QUERY = (
    QUERY,
    Field("reason", "Why", required=False, max_length=200, help="For the shop's people."),
)
SHIPPING_METHOD = (
    Field(
        "id",
        "Code",
        max_length=40,
        help="Small letters, digits and dashes: post. It cannot be changed later.",
    ),
    Field("name", "Name", max_length=100, help="As customers read it."),
    Field(
        "zones",
        "Where it goes",
        "textarea",
        required=False,
        max_length=5000,
        help="A line for each: GB; US regions CA, NY; GB postcodes BT, IM; GB except BT. Empty: everywhere.",
    ),
    Field(
        "rate",
        "What it costs",
        "select",
        options=(
            ("flat", "One price"),
            ("weight", "By weight"),
            ("value", "By what the goods cost"),
            ("product", "The products' own delivery charges"),
        ),
    ),
    Field("prices", "Price", required=False, max_length=500, help="Of one price: GBP 3.95; EUR 4.95"),
    Field(
        "bands",
        "Bands",
        "textarea",
        required=False,
        max_length=2000,
        help="By weight, in grams: 2000: GBP 7.00. By value: 50.00: GBP 0. The first from 0; a line for each.",
    ),
    Field(
        "per",
        "Products' charges count",
        "select",
        options=(("line", "For each product"), ("unit", "For each piece"), ("highest", "Only the highest")),
    ),
    Field("free_from", "Free from", required=False, max_length=500, help="GBP 50.00"),
    Field("max_grams", "Heaviest parcel in grams", required=False, inputmode="numeric", max_length=9),
    Field("min_days", "Days at least", required=False, inputmode="numeric", max_length=3),
    Field("max_days", "Days at most", required=False, inputmode="numeric", max_length=3),
    Field("collect_from", "Where customers collect", "textarea", required=False, max_length=1000),
    Field("tax_class", "Tax class", required=False, max_length=40, help="standard when left empty."),
    Field("position", "Place in the list", required=False, inputmode="numeric", max_length=4),
    Field("active", "Customers can choose it", "check", required=False),
)
PROMOTION = (
    Field("name", "Name", max_length=100, help="As customers read it."),
    Field(
        "codes",
        "Codes",
        required=False,
        max_length=500,
        help="TEN, SAVE-10: capital or small letters are the same. Empty: it applies by itself.",
    ),
    Field("percent", "Percent off", required=False, max_length=10, help="10 or 12.5"),
    Field("amount", "Amount off", required=False, max_length=500, help="GBP 5.00; EUR 6.00"),
    Field(
        "buy_get",
        "Buy and get",
        required=False,
        max_length=40,
        help="2 + 1: of three the cheapest is free. 2 + 1 at 50 %: it is half price.",
    ),
    Field("free_delivery", "Delivery is free", "check", required=False),
    Field(
        "methods",
        "Free delivery by",
        required=False,
        max_length=500,
        help="Codes of shipping methods: post, van. Empty: all of them.",
    ),
    Field(
        "categories",
        "Departments",
        "textarea",
        required=False,
        max_length=5000,
        help="What it acts on, a line for each: Home#Kitchen. Empty: everything.",
    ),
    Field(
        "products",
        "Products",
        "textarea",
        required=False,
        max_length=5000,
        help="What it acts on, too: a product's id or a variant's SKU, a line for each.",
    ),
    Field(
        "groups",
        "Customer groups",
        "textarea",
        required=False,
        max_length=2000,
        help="A line for each. Empty: everybody.",
    ),
    Field(
        "minimum",
        "Goods for at least",
        required=False,
        max_length=500,
        help="Of what it acts on, before discounts: GBP 50.00; EUR 60.00",
    ),
    Field("first_order", "Only for an account's first order", "check", required=False),
    Field("from", "From", required=False, max_length=30, help="2026-11-30, in UTC. Empty: now."),
    Field(
        "to", "Last day", required=False, max_length=30, help="2026-12-24, in UTC. Empty: until you end it."
    ),
    Field(
        "limit",
        "Orders that can use it",
        required=False,
        inputmode="numeric",
        max_length=6,
        help="Needs a code. Empty: any number.",
    ),
    Field(
        "per_customer",
        "Orders of one customer",
        required=False,
        inputmode="numeric",
        max_length=3,
        help="Needs a code. Guests are told apart by e-mail. Empty: any number.",
    ),
    Field(
        "priority",
        "Priority",
        required=False,
        inputmode="numeric",
        max_length=4,
        help="The highest is applied first.",
    ),
    Field("combines", "Others may be applied to the same order", "check", required=False),
    Field("active", "It runs", "check", required=False),
)
TAX_RATE = (
    Field("country", "Country", max_length=2, help="Two letters: GB, DE, US."),
    Field(
        "region", "Region", required=False, max_length=100, help="Its code: CA. Empty: all of the country."
    ),
    Field("tax_class", "Tax class", required=False, max_length=40, help="standard when left empty."),
    Field("name", "Name", max_length=60, help="As customers read it: VAT."),
    Field("rate", "Percent", inputmode="decimal", max_length=10),
    Field("valid_from", "From", "date", required=False, max_length=10, help="Empty: since ever."),
    Field("included", "Prices hold it already", "check", required=False),
    Field("active", "In force", "check", required=False),
)
DISPATCH = (Field("courier", "Courier", max_length=60), Field("courierid", "Tracking number", max_length=100))
STAFF = (
    EMAIL,
    Field(
        "role",
        "Role",
        "select",
        options=(("staff", "Staff"), ("admin", "Admin"), ("customer", "Customer, no desk")),
    ),
)
CUSTOMER_GROUP = (
    EMAIL,
    Field(
        "group",
        "Customer group",
        required=False,
        max_length=40,
        help="Such as trade: small letters, digits, - and _. Empty: the prices that everybody pays.",
    ),
)
CLOSURE = (
    EMAIL,
    Field("reason", "Why", required=False, max_length=300),
    Field(
        "password",
        "Your own password",
        "password",
        required=False,
        autocomplete="current-password",
        help="Needed to close the account of staff.",
    ),
)
GIFT_CARD_CODE = (Field("code", "Code of the gift card", autocomplete="off", max_length=60),)
GIFT_CARD = (
    Field("amount", "Amount", inputmode="decimal", max_length=20),
    Field("currency", "Currency", max_length=3, min_length=3, help="Such as GBP."),
    Field("note", "Why it is issued", max_length=300, required=False, help="For the people of the shop."),
    Field(
        "email",
        "E-mail of the recipient",
        "email",
        required=False,
        max_length=254,
        help="Gets the code. Without one, write it down: it is shown once.",
    ),
    Field("name", "Name of the recipient", required=False),
    Field("message", "Message to the recipient", "textarea", required=False, max_length=1000),
)
CORRECTION = (
    Field("amount", "Balance from now on", inputmode="decimal", max_length=20, help="0 blocks the card."),
    Field("note", "Why", max_length=300),
)
STORE_CREDIT = (
    Field("amount", "Amount", inputmode="decimal", max_length=20),
    Field("currency", "Currency", max_length=3, min_length=3, help="Such as GBP."),
    Field("reason", "Why", max_length=300),
)
REFUND = (
    Field("amount", "Amount", inputmode="decimal", max_length=20),
    Field("reason", "Why", max_length=300),
)


def split_list(text: str) -> list[str]:
    """ "red, blue" -> ["red", "blue"]"""
    return [part.strip() for part in text.split(",") if part.strip()]


def parse_integer(text: str, name: str) -> int:
    """A whole number of at most nine digits. Raises Invalid on the field `name` otherwise."""
    if not _WHOLE.fullmatch(text.strip()):
        raise Invalid(errors={name: ["Write a whole number, of nine digits at most."]})
    return int(text)


def quantity(text: str, *, min: int, max: int) -> int:
    """How many of one product. Raises Invalid, in words for customers."""
    sent = text.strip()
    if not _QUANTITY.fullmatch(sent):
        raise Invalid(f"Write how many you want as a whole number from {min} to {max}.")
    number = int(sent)
    if number < min:
        raise Invalid(f"Write how many you want: {min} or more.")
    if number > max:
        raise Invalid(f"A basket holds at most {max} of one thing.")
    return number


def key(sent: Mapping[str, str]) -> str:
    """The key that a form was drawn with, for what must not happen twice when it is sent twice."""
    return sent.get("key", "")[:64]


def error_text(error: AisleError) -> str:
    """What is wrong, in words for a place without fields."""
    return message(error)
