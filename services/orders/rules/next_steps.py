"""What may have happened to an order that the list of its documents does not say yet."""

from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.order_returns import DECISION_KEY, END_KEY
from services.orders.rules.writing import numbered_key


def next_keys(found: OrderDocuments) -> list[str]:
    """Keys of the documents that would come next, or are missing in between, each of which changes what may be done with the order."""
    returns = found.order_returns
    ended = {each.reference for each in returns if each.receipt or each.end}
    keys = [
        *(["payment"] if found.payment is None else []),
        *(["cancellation"] if found.cancellation is None else []),
        *(["oversold"] if "stall" in found.order else []),
        *(["session", "processing"] if found.is_open and found.order.get("hosted") else []),
        *(
            numbered_key(chain, each)
            for chain in ("decision", "dispatch")
            for each in found.unseen_numbers(chain)
        ),
        *(numbered_key("delivery", each.number) for each in found.parcels if each.delivery is None),
        *(f"{chain}{each}" for chain in ("refund", "returnrequest") for each in found.unseen_numbers(chain)),
    ]
    for each in returns:
        if each.reference not in ended:
            keys.append(f"{each.reference}{END_KEY}")
            if each.decision is None:
                keys.append(f"{each.reference}{DECISION_KEY}")
    return keys
