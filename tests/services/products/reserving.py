"""What tests reserve, sell and give back of the stock as the orders service does, and where its chain of slots then is."""

from datetime import timedelta

from services.products.dependencies import Dependencies
from services.products.documents import DESIGN
from services.products.rules.ledger import Line
from shared.clock import iso, now
from shared.couch import Document, Server
from tests.services.products.conftest import Shop

KITCHEN = ["Home", "Kitchen"]


def reservation(
    orderid: str, *items: tuple[str, int], minutes: float = 15, taxonomy: list[str] = KITCHEN
) -> dict:
    lines = [
        {"productid": productid, "taxonomy": taxonomy, "quantity": quantity} for productid, quantity in items
    ]
    return {"orderid": orderid, "items": lines, "expires": iso(now() + timedelta(minutes=minutes))}


def level(shop: Shop, productid: str) -> int:
    return shop.admin("GET", f"/v1/products/{productid}/stock").json["stock"]


def conflicts(deps: Dependencies, productid: str) -> list[str]:
    return [
        each["_id"] for each in deps.ledger.chain(Line(productid, tuple(KITCHEN), 0)) if "_conflicts" in each
    ]


def replicated(server: Server, doc: Document) -> None:
    """A revision that another replica wrote arrives, or one that a node of a cluster took and the others refused."""
    body = {"docs": [doc], "new_edits": False}
    server.client.call("post_bulk_docs", db=server.name_of(DESIGN), bulk_docs=body)


def reserve(shop: Shop, *args, **more) -> int:
    return shop.service("/v1/internal/reservations", reservation(*args, **more)).status


def end(
    shop: Shop, orderid: str, how: str, *items: tuple[str, int], taxonomy: list[str] = KITCHEN, **more
) -> int:
    body = {"items": reservation(orderid, *items, taxonomy=taxonomy)["items"], **more}
    return shop.service(f"/v1/internal/reservations/{orderid}/{how}", body).status
