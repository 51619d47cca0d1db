"""`python -m tests.bench.search.growth`: how much longer a search takes over many products than over few.

    python -m tests.bench.search.growth [--products 1000000] [--few 10000] [--each 100] [--data FOLDER]

Two minicouches hold so many products each, in the shop's search index; the products service, in this process, is asked over both in turn, by
one client: each question of a kind once, then all of them once more (while nothing is written the database answers these from what it kept).
Prints the p50 in ms over few and over many, their ratio (at most 3 is promised), and the CPU time that a search takes in the database.
A million products take a quarter of an hour to write and to index on two processors that do nothing else; with `--data` they stay
in that folder for the next time.
"""

import argparse
import itertools
import random
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlencode

import orjson
from flask.testing import FlaskClient

from services.products.actions.attributes import completed
from services.products.app import create_app
from services.products.dependencies import open_dependencies
from services.products.documents import DESIGN
from services.products.rules.product import checked, document
from services.products.search_indexes import SEARCH
from services.products.settings import Settings
from shared.clock import timestamp
from shared.couch.errors import DatabaseUnavailable
from shared.database import LONG_TIMEOUT, open_server
from shared.settings import load
from tests.bench.sample_data import ADJECTIVES, BRANDS, NOUNS, products
from tests.processes import start_minicouch, start_redis

BATCH = 1_000
LEARNT = 100_000
"""The words of so many products are learnt: those that come behind have the same, each but for its own number."""
BUILDING_SECONDS = 7_200
WARMED_AT_ONCE = 1 << 24
Question = dict[str, str]


@dataclass
class Side:
    """A shop with so many products, and the process of its database."""

    client: FlaskClient
    database_pid: int

    def ask(self, question: Question) -> float:
        """Milliseconds. Raises RuntimeError for an answer that is none."""
        began = time.perf_counter()
        answer = self.client.get(f"/v1/products?{urlencode(question)}")
        took = (time.perf_counter() - began) * 1000
        if answer.status_code != 200:
            raise RuntimeError(f"{question} was answered with {answer.status_code}: {answer.text[:300]}")
        return took

    def cpu_ms(self) -> float:
        """What the database's threads have used so far."""
        tasks = Path(f"/proc/{self.database_pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e6


def kinds(each: int) -> dict[str, list[Question]]:
    """Questions by what is asked; no question comes twice."""
    dice = random.Random(3)
    words = [*ADJECTIVES, *NOUNS]
    two = dice.sample([f"{one} {other}" for one, other in itertools.product(ADJECTIVES, NOUNS)], 400)
    texts = {
        "one word": words,
        "two words": two,
        "two words and a brand": [f"{text} {dice.choice(BRANDS)}" for text in two],
        "two words, the last unfinished": [text[:-2] for text in two],
        "two words, one with a typo": [
            f"{_misspelt(text.split()[0], dice)} {text.split()[1]}" for text in two
        ],
        "words of categories": [
            f"{noun} category {number}" for number, noun in zip(range(200), NOUNS * 10, strict=True)
        ],
        "words that nothing has together": [f"{text} xylophone" for text in two],
    }
    narrowed = {
        "with facets": {"facets": "brand,colour"},
        "in a department": {"category": "Department 3", "subcategories": "true"},
        "of a brand, with facets": {"brand": "Cedar", "facets": "brand,colour"},
        "between prices, with facets": {
            "currency": "GBP",
            "min_price": "2000",
            "max_price": "6000",
            "facets": "price",
        },
        "by price": {"currency": "GBP", "sort": "price"},
    }
    found = {kind: [{"q": text} for text in those] for kind, those in texts.items()}
    found |= {f"two words, {kind}": [{"q": text, **more} for text in two] for kind, more in narrowed.items()}
    found["one word, with facets"] = [{"q": word, **narrowed["with facets"]} for word in words]
    return {kind: questions[:each] for kind, questions in found.items()}


def _misspelt(word: str, dice: random.Random) -> str:
    """Two letters of it change places, not the first."""
    place = dice.randrange(1, len(word) - 1)
    return word[:place] + word[place + 1] + word[place] + word[place + 2 :]


@contextmanager
def side(folder: Path, count: int) -> Iterator[Side]:
    """A shop with its own servers; its products are written if the folder has none."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as running:
        redis, redis_url = start_redis(folder, "--save", "86400 1")
        running.callback(redis.stop, 120)
        couch, couch_url = start_minicouch(folder / "couch")
        running.callback(couch.stop, 120)
        environment = {
            "AISLE_ENV": "local",
            "COUCH_URL": couch_url,
            "REDIS_URL": redis_url,
            "LOG_LEVEL": "ERROR",
            "ACCESS_LOG": "false",
        }
        settings = load(Settings, environment)
        _fill(settings, count)
        yield Side(create_app(settings).test_client(), couch.popen.pid)


def _fill(settings: Settings, count: int) -> None:
    """Writes the documents that an import would write of products, without their stock, and has them indexed."""
    design = replace(DESIGN, patterns=(SEARCH,))
    server = open_server(settings, LONG_TIMEOUT)
    server.prepare([design], progress=lambda line: None)
    deps = open_dependencies(settings, LONG_TIMEOUT)
    there = max(0, int(server.open(design).information()["doc_count"]) - 1)
    lines, began, date = itertools.islice(products(count), there, None), time.monotonic(), timestamp()
    for number in itertools.count(1):
        batch = [checked(orjson.loads(line)) for line in itertools.islice(lines, BATCH)]
        if not batch:
            break
        docs = [
            document(completed(deps, each.content, None), date, stock=each.stock or 0, levels=each.stocks)
            for each in batch
        ]
        if there < LEARNT:
            deps.vocabulary.replace(docs)
        deps.catalogue.put_many(docs)
        there += len(batch)
        if number % 20 == 0:
            took = time.monotonic() - began
            print(f"{there:,} of {count:,} written, {number * BATCH / took:,.0f} a second", flush=True)
    ends = time.monotonic() + BUILDING_SECONDS
    while time.monotonic() < ends:
        try:
            server.wait_for_indexes(design)
            return
        except DatabaseUnavailable:
            time.sleep(1)
    raise TimeoutError(f"the index was not built within {BUILDING_SECONDS} s")


def warm(folder: Path) -> None:
    """Has the system read every file once: the promise is of warm indexes, and what was written another day is on the disk alone."""
    for path in filter(Path.is_file, folder.rglob("*")):
        with path.open("rb") as file:
            while file.read(WARMED_AT_ONCE):
                pass


def compared(few: Side, many: Side, questions: Sequence[Question]) -> str:
    """The cells of a row: p50 over few and over many, their ratio, and the database's CPU time."""
    for one in (few, many):
        one.client.get("/v1/products?q=warm")
    before = few.cpu_ms(), many.cpu_ms()
    times = [(few.ask(each), many.ask(each)) for each in questions]
    used = [(side.cpu_ms() - at) / len(questions) for side, at in zip((few, many), before, strict=True)]
    one, other = (statistics.median(column) for column in zip(*times, strict=True))
    return f"{one:.2f} | {other:.2f} | {other / one:.2f} | {used[0]:.2f} | {used[1]:.2f}"


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as made, ExitStack() as running:
        data = options.data or Path(made)
        few, many = (
            running.enter_context(side(data / str(count), count)) for count in (options.few, options.products)
        )
        warm(data)
        print("| p50 ms of a search | few | many | ratio | CPU ms, few | many |\n|---|---|---|---|---|---|")
        for kind, questions in kinds(options.each).items():
            for asked in ("first time", "again"):
                print(f"| {kind}, {asked} | {compared(few, many, questions)} |", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.search.growth",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--products", type=int, default=1_000_000)
    parser.add_argument("--few", type=int, default=10_000)
    parser.add_argument("--each", type=int, default=100, help="questions of a kind")
    parser.add_argument("--data", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
