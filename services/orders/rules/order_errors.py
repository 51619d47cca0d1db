"""Why a step of an order cannot be done as its documents stand."""

from shared.errors import Conflict, Unavailable


class NotPaid(Conflict):
    code, title = "order_not_paid", "The order is not paid"


class NotDispatched(Conflict):
    code, title = "order_not_dispatched", "The order was not dispatched"


class OrderBehind(Unavailable):
    """A list of its partition is one node's copy, which is behind for seconds after the node was cut off."""

    def __init__(self) -> None:
        super().__init__("The database node that was asked has not got all of this order yet; try again.")
