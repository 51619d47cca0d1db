"""A shop of each file's own, for tests that break it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.shop import BreakableShop


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, signing_key_file: Path) -> Iterator[BreakableShop]:
    shop = BreakableShop(tmp_path_factory.mktemp("shop"), signing_key_file)
    try:
        yield shop.open()
    finally:
        shop.close()
