"""Who asks is decided before a body is read: nobody unknown, and no customer, holds a thread with a form that never comes."""

from collections.abc import Callable

import pytest

from tests.raw_http import raw_connection


@pytest.fixture(scope="module")
def storefront(service: Callable[..., str]) -> str:
    return service("storefront")


@pytest.mark.parametrize("path", ["/admin/import", "/admin/import/piece", "/admin/products/new"])
def test_an_unknown_visitor_is_refused_before_the_form_arrives(storefront: str, path: str) -> None:
    with raw_connection(storefront) as connection:
        connection.send_head(
            "POST", path, Content_Type="multipart/form-data; boundary=x", Content_Length="30000000"
        )
        response = connection.response()
    assert response.status == 302
    assert response.headers["location"].startswith("/login")


@pytest.mark.parametrize(("path", "status"), [("/login", 403), ("/basket", 413), ("/nowhere", 403)])
def test_a_form_without_a_visit_is_refused_before_it_arrives(storefront: str, path: str, status: int) -> None:
    """Anybody may fill a basket, but not with two megabytes."""
    with raw_connection(storefront) as connection:
        connection.send_head(
            "POST", path, Content_Type="application/x-www-form-urlencoded", Content_Length="2000000"
        )
        assert connection.response().status == status
