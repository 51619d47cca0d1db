"""Loading the sample shop: what it says when it cannot."""

from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.local.shop.load import NotLoaded, load
from services.users.documents import DESIGN


def test_a_database_whose_admin_has_another_password_is_told_what_to_do(
    prepared: Callable, service: Callable[..., str], tmp_path: Path
) -> None:
    """As after a restore, or with somebody else's COUCH_URL."""
    prepared(DESIGN)
    file = tmp_path / "admin-password"
    file.write_text("not the password there")
    environment = {
        "AISLE_STATE": str(tmp_path),
        "MEDIA_DIR": str(tmp_path / "media"),
        "USERS_URL": service("users"),
        "ADMIN_EMAIL": "admin@example.com",
        "ADMIN_PASSWORD_FILE": str(file),
    }
    with pytest.raises(NotLoaded, match=rf"write it into {file}.*SAMPLE_SHOP=false"):
        load(environment, print)
