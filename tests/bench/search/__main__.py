"""`python -m tests.bench.search`: how well the shop's search answers the judged queries over the sample, in each dialect.

For every group of queries: precision of the first ten, recall, nDCG, and the share that is good by the shop's promise; then the bad ones.
"""

import argparse
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.bench.search.catalogue import large
from tests.bench.search.judging import Judgement, judge, right, summary
from tests.bench.search.queries import QUERIES
from tests.bench.search.shop import DIALECTS, shop
from tests.processes import start_minicouch, start_redis
from tests.services.products import flipkart

HEAD = "| queries | | precision@10 | recall | nDCG | good |\n|---|---|---|---|---|---|"


def main() -> None:
    options = _options()
    with _servers() as (couch_url, redis_url):
        for dialect in options.dialect or DIALECTS:
            judged = measure(couch_url, redis_url, dialect, options.copies)
            print(f"\n## {dialect}\n\n{report(judged)}", flush=True)


def measure(couch_url: str, redis_url: str, dialect: str, copies: int = 1) -> list[Judgement]:
    """Every judged query, answered in this dialect, over the sample or so many times as many products."""
    products = list(large([line for line in flipkart.lines() if "price" in line], copies))
    with shop(couch_url, redis_url, dialect, products) as opened:
        return [judge(query, right(query, products), opened.found(query.text)) for query in QUERIES]


def report(judged: Sequence[Judgement]) -> str:
    """A table by group, and a line for each query that is not good."""
    groups = dict.fromkeys(each.query.group for each in judged)
    lines = [HEAD, summary("all", judged)]
    lines += [summary(group, [each for each in judged if each.query.group == group]) for group in groups]
    lines += ["", "Not good (there, found; precision, recall):", ""]
    lines += [
        f"- {each.query.text}: {each.there}, {each.found}; {each.precision:.2f}, {each.recall:.2f}"
        for each in judged
        if not each.good
    ]
    return "\n".join(lines)


@contextmanager
def _servers() -> Iterator[tuple[str, str]]:
    """The URLs of the database server (COUCH_URL, else a minicouch of our own) and of a Redis."""
    with tempfile.TemporaryDirectory() as folder:
        redis, redis_url = start_redis(Path(folder))
        running = [redis]
        try:
            couch_url = os.environ.get("COUCH_URL", "")
            if not couch_url:
                couch, couch_url = start_minicouch(Path(folder) / "data")
                running.append(couch)
            yield couch_url, redis_url
        finally:
            for process in reversed(running):
                process.stop()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.search",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--dialect", action="append", choices=list(DIALECTS), help="all when left out")
    parser.add_argument(
        "--copies", type=int, default=1, help="of each product, under other brands: 30 are 29,850"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
