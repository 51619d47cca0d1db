"""On a cluster several writers replace one version of a document, each through another node.

COUCH_URLS names the nodes, separated by spaces; without it there is nothing to prove here.
"""

import os
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from shared.couch import DatabaseDesign, Server, UpdateConflict

NODES = os.environ.get("COUCH_URLS", "").split()
REPLACED = DatabaseDesign("cluster_replaced", ())

pytestmark = [pytest.mark.faults, pytest.mark.skipif(len(NODES) < 2, reason="COUCH_URLS names no cluster")]


@pytest.mark.parametrize("writers", [2, 3, 5])
def test_of_those_who_replace_one_version_at_most_one_is_told_so_and_it_is_theirs(
    server: Server, prepared: Callable[..., None], writers: int
) -> None:
    prepared(REPLACED)
    nodes = [Server(url, prefix=server.prefix).open(REPLACED) for url in NODES]
    for round_ in range(40):
        doc = {"_id": f"round:{secrets.token_hex(6)}", "by": None}
        doc["_rev"] = nodes[0].put(doc)

        def replace(number: int, doc: dict[str, object] = doc) -> bool:
            try:
                nodes[number % len(nodes)].put({**doc, "by": number})
            except UpdateConflict:
                return False
            return True

        with ThreadPoolExecutor(writers) as together:
            told = [number for number, made in enumerate(together.map(replace, range(writers))) if made]
        found = nodes[round_ % len(nodes)].get(doc["_id"])
        assert len(told) <= 1
        assert not told or found["by"] == told[0], "and what was refused does not hide it"
