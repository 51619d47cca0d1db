"""`python -m services.prepare` where Nouveau does not build the products' index, which no search is answered without."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.products.documents import DESIGN
from services.users import documents as users
from shared.couch import Server
from tests.nouveau_away import skip_where_any_name_is_taken, with_nouveau_alone

ROOT = Path(__file__).parents[3]
REFUSED = {"_id": "Toys:odd", "type": "product", "price": {"amount": 1, "currency": "G-P"}, "active": True}


@pytest.fixture
def nouveau_url(couch_url: str, server: Server) -> Iterator[str]:
    with with_nouveau_alone(couch_url, server) as url:
        yield url


def test_it_says_which_index_which_server_refuses_and_why_and_does_not_end_well(
    nouveau_url: str, couch_url: str, server: Server, environment: dict[str, str]
) -> None:
    skip_where_any_name_is_taken(couch_url)
    name = server.name_of(DESIGN)
    one_shard = {"partitioned": True, "q": 1}  # as `prepare` makes it where Nouveau searches
    server.client.call("put_database", db=name, **one_shard)
    server.client.call("put_document", db=name, doc_id=REFUSED["_id"], document=REFUSED)
    ended = subprocess.run(
        [sys.executable, "-m", "services.prepare"],
        cwd=ROOT,
        env={**os.environ, **environment, "COUCH_URL": nouveau_url},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = ended.stderr.splitlines()
    assert (ended.returncode, len(lines)) == (1, 2), ended
    for line, index in zip(lines, ("search", "search_in_category"), strict=True):
        assert line.startswith(f"{name}: {index} ("), line
        assert "cannot be built. The search engine (Nouveau) of the server 127.0.0.1:" in line
        assert 'name must match "^' in line
    assert server.check([users.DESIGN]) == [], "everything else is built"
