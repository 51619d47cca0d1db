"""Reviews: by buyers, once each; ratings and the leaderboard follow."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from redis import Redis

from services.products.actions import maintenance
from services.products.actions.reviews import AlreadyReviewed, add
from services.products.dependencies import Dependencies
from services.products.documents import product_id
from services.products.rules.ratings import rank
from shared.clock import timestamp
from shared.couch import DatabaseUnavailable
from tests.forwarding import Forward, Response, as_one_of_three, cut_off, forwarding
from tests.services.products.conftest import SERVICE, Shop, eventually, open_as_worker, product, token


def review(shop: Shop, productid: str, userid: str, stars: int, bought: bool = True, **fields):
    if bought:
        shop.neighbours.purchases.add((userid, productid))
    return shop.request(
        "POST", f"/v1/products/{productid}/reviews", {"stars": stars, **fields}, token(userid)
    )


def test_only_buyers_and_once_each(shop: Shop, environment: dict[str, str]):
    shop.load([product("book")])
    assert review(shop, "book", "stranger", 5, bought=False).json["code"] == "not_a_buyer"
    answer = review(shop, "book", "ann", 4, title="Good", text="Read it twice.")
    assert answer.status == 201
    assert answer.json.keys() == {"productid", "stars", "title", "text", "date"}
    assert review(shop, "book", "ann", 1).json["code"] == "already_reviewed"
    with ThreadPoolExecutor(6) as at_once:
        statuses = list(at_once.map(lambda _: review(shop, "book", "bob", 5).status, range(6)))
    deps = open_as_worker(environment)
    if deps.catalogue.has_one_copy:
        assert sorted(statuses) == [201] + [409] * 5
    assert statuses.count(201) <= 1
    assert set(statuses) <= {201, 409, 503}
    assert review(shop, "book", "bob", 5).json["code"] == "already_reviewed"
    assert review(shop, "nobody", "ann", 3).status == 404
    assert review(shop, "book", "cat", 6).status == 422
    assert shop.request("POST", "/v1/products/book/reviews", {"stars": 3}).status == 401
    eventually(lambda: maintenance.refresh(deps, [product_id(["Home", "Kitchen"], "book")]) == 0)
    eventually(lambda: shop.ok("/v1/products/book")["rating"] == {"average": 4.5, "count": 2})


def test_a_review_that_too_few_nodes_took_is_not_told_as_written(shop: Shop, environment: dict[str, str]):
    """Of several at once each would be told so."""
    shop.load([product("unsure")])

    def answer(method: str, path: str, body: bytes, forward: Forward) -> Response:
        status, headers, content = forward()
        if method == "PUT" and b'"stars"' in body:
            return 202, headers, content
        return cut_off(method, path, body, lambda: (status, headers, as_one_of_three(method, path, content)))

    class Everything:
        def bought(self, userid: str, productid: str) -> bool:
            return True

    def post(deps: Dependencies, key: str) -> dict[str, Any]:
        fields = {"stars": 4, "title": "Here", "text": ""}
        return add(replace(deps, orders=Everything()), "unsure", "ann", fields, timestamp(), key)

    with forwarding(environment["COUCH_URL"], answer) as url:
        deps = open_as_worker({**environment, "COUCH_URL": url})
        with pytest.raises(DatabaseUnavailable):
            post(deps, "r1")
    deps = open_as_worker(environment)
    assert post(deps, "r1")["stars"] == 4
    with pytest.raises(AlreadyReviewed):
        post(deps, "r2")


def test_a_review_written_while_its_product_moves_goes_along(shop: Shop, environment: dict[str, str]):
    shop.load([product("nomad", taxonomy=["Old"])])

    class Meanwhile:
        def bought(self, userid: str, productid: str) -> bool:
            moved = shop.admin("PUT", "/v1/products/nomad", product("nomad", taxonomy=["New"]))
            return moved.status == 200

    deps = open_as_worker(environment)
    add(
        replace(deps, orders=Meanwhile()),
        "nomad",
        "ann",
        {"stars": 4, "title": "Here", "text": ""},
        timestamp(),
    )
    assert [each["title"] for each in shop.ok("/v1/products/nomad/reviews")["items"]] == ["Here"]
    eventually(lambda: shop.ok("/v1/products/nomad")["rating"] == {"average": 4.0, "count": 1})
    assert review(shop, "nomad", "ann", 1).json["code"] == "already_reviewed"


def test_a_review_whose_answer_died_with_its_process_is_found_by_the_retry(shop: Shop, redis_url: str):
    shop.load([product("lost")])
    shop.neighbours.purchases.add(("ann", "lost"))

    def post(key: str):
        headers = token("ann") | {"Idempotency-Key": key}
        return shop.request("POST", "/v1/products/lost/reviews", {"stars": 5}, headers)

    first = post("r1")
    Redis.from_url(redis_url).flushdb()
    again = post("r1")
    assert (first.status, again.status, again.json) == (201, 201, first.json)
    assert post("r2").json["code"] == "already_reviewed"


def test_reviews_are_listed_newest_first_by_pages(shop: Shop):
    shop.load([product("film")])
    for n in range(5):
        assert review(shop, "film", f"u{n}", n % 5 + 1, title=f"No {n}").status == 201
    first = shop.ok("/v1/products/film/reviews", limit=3)
    second = shop.ok("/v1/products/film/reviews", limit=3, cursor=first["next"])
    assert [each["title"] for each in first["items"] + second["items"]] == [
        f"No {n}" for n in (4, 3, 2, 1, 0)
    ]
    shop.get("/v1/products/film", reviews=1)  # the product types are known from now on, as in a running shop
    page = shop.get("/v1/products/film", reviews=2)
    assert [each["title"] for each in page.json["reviews"]["items"]] == ["No 4", "No 3"]
    assert page.calls == {"global": 1, "partition": 1}


def test_the_leaderboard_asks_for_more_than_one_lucky_review(shop: Shop):
    shop.load([product("lucky"), product("loved"), product("liked"), product("unrated")])
    review(shop, "lucky", "v0", 5)
    for n in range(6):
        review(shop, "loved", f"v{n}", 5 if n else 4)
        review(shop, "liked", f"v{n}", 4)
    board = [each["productid"] for each in shop.ok("/v1/products/best-rated", limit=100)["items"]]
    ours = [each for each in board if each in ("lucky", "loved", "liked", "unrated")]
    assert ours == ["loved", "liked", "lucky"]
    ranked = [each["productid"] for each in shop.walk(category="Home#Kitchen", sort="rating", limit=3)]
    assert [each for each in ranked if each in ours] == ours


def test_the_rank_is_a_bound_that_tightens():
    def stats(average: float, count: int) -> dict:
        return {"sum": average * count, "count": count}

    assert rank(None) == 0
    assert 1 <= rank(stats(5, 1)) < rank(stats(5, 10)) < rank(stats(5, 1000)) <= 5
    assert rank(stats(4.5, 100)) > rank(stats(5, 1))
    assert rank(stats(1, 50)) == 1


def test_reviews_move_with_their_product(shop: Shop):
    shop.load([product("moved")])
    review(shop, "moved", "ann", 5, title="Mine")
    assert shop.admin("PUT", "/v1/products/moved", product("moved", taxonomy=["Elsewhere"])).status == 200
    assert shop.ok("/v1/products/moved/reviews")["items"][0]["title"] == "Mine"
    assert review(shop, "moved", "ann", 1).status == 409
    assert review(shop, "moved", "bob", 4).status == 201
    assert shop.ok("/v1/products/moved")["rating"] == {"average": 4.5, "count": 2}


def test_what_a_person_wrote_is_there_for_their_export(shop: Shop):
    shop.load([product("vase"), product("lamp")])
    for productid in ("vase", "lamp"):
        assert review(shop, productid, "exporter", 3, title=productid).status == 201
    review(shop, "vase", "somebody-else", 1)
    path = "/v1/internal/users/exporter/reviews"
    assert shop.request("GET", path, None, token("exporter")).status == 401
    found = shop.ok(path, SERVICE)["items"]
    assert sorted(each["title"] for each in found) == ["lamp", "vase"]
