"""The orders service, as far as products needs it."""

from urllib.parse import urlencode

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
