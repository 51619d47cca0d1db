"""A shop of each file's own, for tests that break it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.shop import BreakableShop


@pytest.fixture(scope="module")
def shop_settings() -> dict[str, str]:
    """Settings that a module's shop differs in; override it in a module."""
    return {}


@pytest.fixture(scope="module")
def shop(
    tmp_path_factory: pytest.TempPathFactory, signing_key_file: Path, shop_settings: dict[str, str]
) -> Iterator[BreakableShop]:
    shop = BreakableShop(tmp_path_factory.mktemp("shop"), signing_key_file, shop_settings)
    try:
        yield shop.open()
    finally:
        shop.close()
