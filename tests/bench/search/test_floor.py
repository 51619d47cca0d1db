"""The promise about finding, kept: of the judged queries, 90% are good in every dialect."""

import pytest

from tests.bench.search.__main__ import measure, report
from tests.bench.search.shop import DIALECTS
from tests.services.products import flipkart

pytestmark = [
    pytest.mark.bench,
    pytest.mark.skipif(not flipkart.FILE.exists(), reason="the real data is not here (AISLE_DATA)"),
]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_nine_of_ten_judged_queries_are_good(couch_url: str, redis_url: str, dialect: str):
    judged = measure(couch_url, redis_url, dialect)
    assert sum(each.good for each in judged) >= 0.9 * len(judged), report(judged)
