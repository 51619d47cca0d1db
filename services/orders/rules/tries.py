"""Others may write the next number of a chain first: then it is read and decided again, so many times."""

from typing import Final

from shared.errors import Conflict

MAX_ATTEMPTS: Final = 5


class OrderBusy(Conflict):
    code, title = "order_busy", "Others are changing this order just now; try again"
