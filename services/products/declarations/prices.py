"""What else than regular prices a product and a variant say of what they cost."""

from typing import Final

from shared.customer_groups import GROUP, GROUP_MESSAGE
from shared.fields import Amount, Amounts, AmountsByName, GroupList, Moment, Text

MAX_SALES: Final = 20
MAX_GROUPS: Final = 20
GROUP_NAME: Final = Text(1, 40, pattern=GROUP, pattern_message=GROUP_MESSAGE)
SALE: Final = {
    "prices": Amounts(description="minor units by currency"),
    "from": Moment(default=None, show_default=False, description="at once when left out"),
    "until": Moment(default=None, show_default=False, description="until it is taken out when left out"),
}
COMPARE_AT_PRICES: Final = Amounts(
    default={},
    show_default=False,
    description="minor units by currency: what it is compared with, such as a recommended price",
)
SALES: Final = GroupList(
    SALE,
    MAX_SALES,
    in_cell=True,
    default=[],
    show_default=False,
    description="other prices from a time to a time; the lowest that is in force counts. For staff",
)
GROUP_PRICES: Final = AmountsByName(
    GROUP_NAME,
    Amounts(),
    MAX_GROUPS,
    default={},
    show_default=False,
    description="minor units by customer group and currency, where they are lower. For staff",
)
COST_PRICES: Final = Amounts(
    default={},
    show_default=False,
    description="minor units by currency: what one costs the shop to buy. For staff",
)
CURRENT_COMPARE_AT: Final = Amount(
    default=None,
    writable=False,
    show_default=False,
    description="what `price` is compared with, when that is more",
)
SALE_ENDS: Final = Moment(
    default=None, writable=False, show_default=False, description="until when `price` holds"
)
