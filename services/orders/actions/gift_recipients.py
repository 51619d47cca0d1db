"""Who gets the gift cards of an order, corrected by staff: an address was mistyped, or the e-mail did not arrive."""

from services.orders.actions.order_emails import NoRecipient, send_again
from services.orders.dependencies import Dependencies
from services.orders.documents import GIFT_CARDS_SENT
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.gift_card_delivery import GIFT_CARDS, bought_gift_cards, corrected
from services.orders.rules.progress import NotPossible
from shared.clock import timestamp
from shared.errors import Conflict


class NoGiftCards(Conflict):
    code, title = "no_gift_cards", "There are no gift cards in this order"


def correct(
    deps: Dependencies, found: OrderDocuments, email: str, name: str, actor: str, id: str | None
) -> OrderDocuments:
    """The order with this recipient, to whom the codes are sent where they are out already; the same `id` sends once.

    The codes stay the same, so an earlier recipient has them, too. Raises NoGiftCards, NoRecipient once the customer was erased,
    NotPossible of a cancelled order, UpdateConflict, Unavailable.
    """
    customer = found.customer
    if not bought_gift_cards(found):
        raise NoGiftCards("This order has bought no gift cards.")
    if customer is None or not customer["email"]:
        raise NoRecipient("The customer was erased.")
    if found.is_being_cancelled or found.cancellation is not None:
        raise NotPossible("The order was cancelled, and its gift cards are empty.", order_status=found.status)
    if (changed := corrected(customer, email, name, timestamp())) is not None:
        found = found.with_document(deps.orders.replace(changed))
    if found.of_type(GIFT_CARDS_SENT.name):
        found = found.with_document(send_again(deps, found, GIFT_CARDS, actor, id))
    return found
