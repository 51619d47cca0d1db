"""Fields and limits that several documents of an order share."""

from typing import Annotated, Final

from shared.fields import Amount, Moment, Text
from shared.money import Money

MAX_QUANTITY, MAX_LINES = 1_000_000, 200
ORDERID: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
ReadOnlyText = Text(0, 1000, writable=False)
REGION: Final = Text(1, 100)
Reason = Text(0, 500, default="")
Date = Annotated[str, Moment(writable=False)]
ReadOnlyMoney = Annotated[Money, Amount(writable=False)]
Sku = Annotated[str, Text(1, 1000, default="", show_default=False, description="of a variant")]
