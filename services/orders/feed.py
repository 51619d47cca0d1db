"""Which changes of the orders database are work for the worker. The follower imports this and no more of the service, to stay small."""

from typing import Any, Final

from services.orders.archive_documents import ARCHIVE_YEAR
from services.orders.clients.couriers import AUTOMATIC_COURIERS
from services.orders.declarations.archive import UNDER_WAY
from services.orders.documents import (
    CANCELLATION,
    CUSTOMER,
    DEADLETTER_RETRIED,
    DELIVERY,
    DISPATCH,
    LINE_CANCELLATION,
    PARCEL_LABEL,
    PARCEL_LABEL_END,
    PARCEL_SHIPMENT,
    PAYMENT,
    PROCESSING,
    REFUND,
    REPORT_REQUEST,
    RETURN,
    RETURN_DECISION,
    RETURN_EXCHANGE,
    RETURN_LABEL,
    RETURN_REQUEST,
    RETURN_SHIPMENT,
    SESSION,
    SPARE_SHIPMENT,
    STOCK_WAIT,
)
from shared.jobs import ADVANCE_ORDER, ADVANCE_ORDERS, COMPUTE_REPORT, SUMMARISE_ORDER, Feed
from shared.jobs import ARCHIVE_YEAR as ARCHIVE_YEAR_JOB

_EVENTS = (
    PAYMENT,
    DISPATCH,
    DELIVERY,
    CANCELLATION,
    LINE_CANCELLATION,
    STOCK_WAIT,
    REFUND,
    RETURN_REQUEST,
    RETURN_DECISION,
    RETURN,
    RETURN_EXCHANGE,
    RETURN_SHIPMENT,
    RETURN_LABEL,
    PARCEL_SHIPMENT,
    PARCEL_LABEL,
    PARCEL_LABEL_END,
    SPARE_SHIPMENT,
)


def _is_relevant(doc: dict[str, Any]) -> bool:
    """Whether a change calls for something: of customers only that they are erased, of an archive that it is not done."""
    if doc["type"] == CUSTOMER.name:
        return "erased" in doc
    if doc["type"] == ARCHIVE_YEAR.name:
        return doc["state"] in UNDER_WAY
    return "imported" not in doc and doc.get("courier") not in AUTOMATIC_COURIERS


FEED: Final = Feed(
    database="orders",
    routes={
        **{name: (ADVANCE_ORDER, "orderid") for kind in _EVENTS for name in kind.names},
        SESSION.name: (ADVANCE_ORDER, "orderid"),
        **{kind.name: (SUMMARISE_ORDER, "orderid") for kind in (PROCESSING, CUSTOMER)},
        REPORT_REQUEST.name: (COMPUTE_REPORT, "reportid"),
        ARCHIVE_YEAR.name: (ARCHIVE_YEAR_JOB, "year"),
        DEADLETTER_RETRIED.name: (None, "subject"),
    },
    is_relevant=_is_relevant,
    several={ADVANCE_ORDER: ADVANCE_ORDERS},
)
