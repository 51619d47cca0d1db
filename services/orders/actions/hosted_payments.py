"""What became of an order's payment page, asked by whoever comes back: the customer, the webhook, the sweep."""

from services.orders.actions import payment_pages
from services.orders.actions.attempts import PaymentCancelled, unpaid
from services.orders.actions.checkout import reconcile, record_charge
from services.orders.clients.payments import PageState
from services.orders.dependencies import Dependencies
from services.orders.rules.assembly import OrderDocuments


def refresh_payment(deps: Dependencies, found: OrderDocuments, session: str = "") -> OrderDocuments:
    """Asks the provider what became of an order's payment page, and does what follows. Any number of times, by anybody.

    `session`: the page's reference, from an event that may be here before it is stored.
    """
    return after_payment_page(deps, found, session)[0]


def after_payment_page(
    deps: Dependencies, found: OrderDocuments, session: str = ""
) -> tuple[OrderDocuments, str]:
    """The same, with why the last try to pay on a page failed that can still be paid on; "" where none did."""
    order = found.order
    if not order.get("hosted") or found.payment is not None:
        return found, ""
    found, outcome = payment_pages.look_up(deps, found, session)
    if outcome.charge is not None:
        return record_charge(deps, found, outcome.charge), ""
    if outcome.state is PageState.ENDED:
        return reconcile(deps, found, unpaid(found, outcome)), ""
    return found, outcome.detail


def give_up_payment(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """The customer came back without paying: the page is ended and the goods go back, unless the money was first."""
    if not found.is_open or not found.order.get("hosted"):
        return found
    found, outcome = payment_pages.look_up(deps, found)
    return reconcile(deps, found, PaymentCancelled(outcome.detail or "The payment was not made."))
