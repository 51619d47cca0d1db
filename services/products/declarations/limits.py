"""Limits, patterns and statuses that declarations and forms share."""

from typing import Final

PRODUCTID: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
MAX_LEVELS, MAX_STOCK, MAX_PRICE = 12, 10**9, 10**12
MAX_OPTIONS, MAX_OPTION_VALUES, MAX_VARIANTS, MAX_FORMER_SKUS = 3, 100, 250, 250
IMAGE: Final = r"|https?://[A-Za-z0-9._-]+(:[0-9]{1,5})?([/?#][^\s\\<>\"]*)?|/([^\s\\<>\"/][^\s\\<>\"]*)?"
"""An address with a plain host, or a path of this site: `//host`, `/\\host` and names before an `@` lead elsewhere."""
DRAFT: Final = "draft"
ACTIVE: Final = "active"
ARCHIVED: Final = "archived"
SCHEDULED: Final = "scheduled"
STATUSES: Final = (DRAFT, ACTIVE, ARCHIVED)
UNPUBLISHED: Final = (DRAFT, SCHEDULED, ARCHIVED)
MOMENT: Final = r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z"
CODE: Final = "[a-z][a-z0-9_-]*"
CODE_MESSAGE: Final = "Only small letters, digits, dash and underscore, a letter first."
DIGEST: Final = "[0-9a-f]{64}"
MAX_PICTURES: Final = 20
MAX_RELATED: Final = 20

GOODS: Final = "goods"
GIFT_CARD: Final = "gift_card"
PRODUCT_KINDS: Final = (GOODS, GIFT_CARD)
