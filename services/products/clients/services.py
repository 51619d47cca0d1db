"""The orders service, as far as products needs it."""

from urllib.parse import quote, urlencode

from shared.client import ServiceClient


class Orders:
    """Who bought what."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def bought(self, userid: str, productid: str) -> bool:
        """Whether this person has bought this product."""
        answer = self._client.get(
            f"/v1/internal/orders/bought?{urlencode({'userid': userid, 'productid': productid})}"
        )
        return bool(answer["bought"])

    def bought_together(self, productid: str, limit: int) -> list[str]:
        """Products that are bought with this one, the most frequent first."""
        path = f"/v1/internal/products/{quote(productid, safe='')}/bought-together"
        return [each["productid"] for each in self._client.get(path, {"limit": limit})["items"]]
