"""`python -m deploy.costs [--orders-a-day N]`: what a given traffic needs of Cloudant, from the database calls counted in tests.

`python -m deploy.costs --page` writes deploy/COSTS.md again.
"""

import argparse
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from deploy import piles
from deploy.traffic import (
    ENOUGH,
    QUERY,
    READ,
    TIMEOUT,
    WRITE,
    Kind,
    Minutes,
    blocks_that_hold,
    percentile,
    queue_waits,
    several,
    simulate,
)

PAGE = Path(__file__).with_name("COSTS.md")


@dataclass(frozen=True)
class Calls:
    """Of Cloudant's three classes; a partition query is a read."""

    reads: float = 0
    globals: float = 0
    writes: float = 0

    def __add__(self, other: "Calls") -> "Calls":
        return Calls(self.reads + other.reads, self.globals + other.globals, self.writes + other.writes)

    def times(self, factor: float) -> "Calls":
        return Calls(self.reads * factor, self.globals * factor, self.writes * factor)


# Calls of one request, all services together: tests/journeys/test_costs.py counts them on the running shop.
REQUESTS = {
    "category page": Calls(reads=1),
    "menu": Calls(),
    "search": Calls(globals=1),
    "product": Calls(globals=1),
    "log in": Calls(globals=1),
    "profile with addresses and basket": Calls(reads=1),
    "checkout": Calls(reads=1, globals=1, writes=4),
    "checkout with a code that has a limit": Calls(reads=2, globals=1, writes=5),
    "checkout with a gift card": Calls(reads=2, globals=1, writes=5),
    "order": Calls(reads=1),
    "order history": Calls(globals=1),
    "desk: orders of a status, of a name, with a product": Calls(reads=1, globals=1),
    "desk: draft orders": Calls(reads=1),
    "desk: a draft order placed": Calls(reads=3, globals=1, writes=7),
    "desk: a label bought": Calls(reads=3, writes=3),
    "desk: a parcel handed over with its label": Calls(reads=3, writes=3),
    "desk: a return approved, for which other goods are kept": Calls(reads=5, globals=1, writes=4),
    "desk: its goods received, and the others ordered": Calls(reads=4, globals=1, writes=7),
    "desk: customers, found by name or e-mail": Calls(globals=1),
    "desk: a customer": Calls(reads=1),
    "desk: archives of closed years": Calls(reads=1, globals=1),
    "desk: what was done, in all services": Calls(reads=3),
    "desk: what somebody did, in one service, at any time": Calls(reads=2),
    "desk: a customer imported": Calls(reads=4, writes=3),
    "sync: what changed, when nothing did": Calls(reads=1, globals=1),
    "sync: documents fetched": Calls(reads=1),
    "sync: a basket line pushed": Calls(reads=3, globals=1, writes=2),
    "kept category: what changed, when nothing did": Calls(),
    "stall: a sale told": Calls(reads=6, globals=1, writes=6),
    "stall: a count told": Calls(reads=4, globals=1, writes=2),
}
# What Cloudant counts of these: a document of a bulk is a write, a partition query is a read for each hundred rows of its index that are
# begun, and one more for each document it reads. Counted by minicouch under a plan: tests/services/orders/test_units.py. A category page
# lists so many products; an order has two lines and is paid.
CATEGORY_PAGE = 20
UNITS = {
    "category page": Calls(reads=1 + CATEGORY_PAGE),
    "menu": Calls(),
    "search": Calls(globals=1),
    "product": Calls(globals=1),
    "log in": Calls(globals=1),
    "profile with addresses and basket": Calls(reads=5),
    "checkout": Calls(reads=5, globals=1, writes=13),
    "order": Calls(reads=7),
    "order history": Calls(globals=1),
}
# What the pages of the storefront cost, all services together, when they are not sent again from its cache. Counts beside a
# category's filters are kept, and counted again in the background: at most one read a second for a category that changes and is
# visited. So is which products a department
# shows first: one global query every 30 seconds, or at most one a second while it changes and is visited. Emptying
# the basket after a checkout, 1 read and 1 write, is counted with what the worker does.
PAGES = {
    "home": Calls(),
    "all departments": Calls(),
    "category": Calls(reads=1),
    "category, filtered and sorted": Calls(reads=1),
    "department (a category with others below it)": Calls(reads=1),
    "department, filtered": Calls(globals=1),
    "search": Calls(globals=1),
    "product": Calls(globals=1),
    "product with reviews": Calls(globals=1),
    "guest's basket": Calls(globals=1),
    "guest's checkout": Calls(globals=1),
    "basket": Calls(reads=1, globals=1),
    "checkout, shown": Calls(reads=1, globals=1),
    "checkout, sent": Calls(reads=2, globals=1, writes=4),
    "order": Calls(reads=1),
    "invoice": Calls(reads=1),
    "orders": Calls(globals=1),
    "account": Calls(reads=1),
    "log-in form": Calls(),
    "a device asks who is here": Calls(),
    "a device asks what the basket costs, after a change": Calls(reads=2, globals=2),
    "a device asks what became of an order to be paid": Calls(reads=1),
}
# Documents that one order writes until it is delivered, the worker's included; each document in a bulk counts.
# Its summary is one of them, written again by the worker for each thing that happens to the order, and what its goods cost the shop
# another, where that is known.
WRITTEN_PER_ORDER = 24
KEPT_PER_ORDER = 13
WRITTEN_PER_ACT = 3  # of staff: its entry in the audit trail and by whom and about what it is found, beside what the act itself writes
BYTES_PER_DOCUMENT = 1_000  # with its revision and its rows in the indexes

# What happens for each order: one visitor in fifty buys.
PER_ORDER = {
    "category page": 150,
    "menu": 150,
    "search": 40,
    "product": 100,
    "log in": 3,
    "profile with addresses and basket": 10,
    "checkout": 1,
    "order": 6,
    "order history": 2,
}
BUSIEST_HOUR = 0.12
BURST = 2.0

LITE = Calls(20, 5, 10)
BLOCK = Calls(100, 5, 50)
SHARD_BYTES = 10e9
SIZES = (1_000_000, 1_000_000_000)

# CouchDB 3.5 on two cores answered so many partition queries a second to 16 clients; a global query asks each shard of the
# products, a write goes to each copy.
NODE_CALLS, NODE_SHARE = 1_000, 0.5
PRODUCT_SHARDS, COPIES, MIN_NODES = 2, 3, 3
SALE_DOCUMENTS = 3  # that a sale leaves in the category's partition: reservation, movement, settlement
HISTORY_DAYS = 400  # STOCK_HISTORY_DAYS: after so many a thousand movements become one total
MOVEMENTS_OF_A_TOTAL, TOMBSTONE_BYTES = 1_000, 200  # a document that was removed leaves its id and revision
PARTITION_BYTES = 10e9
HOT_SHARE = 0.2  # of pages and sales, that the busiest category has
LINES_PER_ORDER = 2
KEPT_BEFORE = 0.9  # of category, menu and product requests that a cache before the shop answers
KEPT_REQUESTS = ("category page", "menu", "product")
GROWTH = (10, 1_000, 100_000)
SIMULATED_REQUESTS = 60_000  # or the whole hour, where it has fewer
_SCENARIOS = (
    (10, False, "Lite"),
    (10, True, "Lite"),
    (100, False, "Lite"),
    (100, True, "Lite"),
    (1_000, False, "Lite"),
    (1_000, False, "Standard"),
    (1_000, True, "Standard"),
    (100_000, False, "Standard"),
    (100_000, True, "Standard"),
)
"""Orders a day, whether a cache answers before, and the plan."""


def per_order(costs: dict[str, Calls] = REQUESTS) -> Calls:
    """Calls, or units, that one order brings with it, browsing and the worker's writes included."""
    total = Calls(writes=WRITTEN_PER_ORDER - costs["checkout"].writes)
    for name, times in PER_ORDER.items():
        total += costs[name].times(times)
    return total


def a_second(orders_a_day: float, costs: dict[str, Calls] = REQUESTS) -> Calls:
    """Calls, or units, a second in the busiest minutes."""
    return per_order(costs).times(in_the_busiest_minutes(orders_a_day))


def behind_a_cache(costs: dict[str, Calls] = REQUESTS) -> Calls:
    """As `per_order`, where a cache before the shop answers most of what everybody may see."""
    total = per_order(costs)
    for name in KEPT_REQUESTS:
        total += costs[name].times(-KEPT_BEFORE * PER_ORDER[name])
    return total


def in_the_busiest_minutes(orders_a_day: float) -> float:
    """Orders a second."""
    return orders_a_day * BUSIEST_HOUR / 3600 * BURST


def blocks(needed: Calls) -> int:
    """Blocks of the Standard plan that hold it."""
    return max(1, *(math.ceil(need / have) for need, have in zip(_parts(needed), _parts(BLOCK), strict=True)))


def nodes(needed: Calls) -> int:
    """CouchDB nodes of two cores that are half busy with it, at least three."""
    return max(MIN_NODES, math.ceil(_busy(needed) * MIN_NODES))


def shards(orders: float) -> int:
    """A power of two that keeps each shard of the orders database below its size, at least 2."""
    return max(2, 2 ** math.ceil(math.log2(orders * KEPT_PER_ORDER * BYTES_PER_DOCUMENT / SHARD_BYTES)))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m deploy.costs", description=__doc__)
    parser.add_argument("--orders-a-day", type=float, default=1000, metavar="N")
    parser.add_argument("--page", action="store_true", help="write deploy/COSTS.md")
    options = parser.parse_args()
    if options.page:
        PAGE.write_text(page())
        return 0
    needed = a_second(options.orders_a_day, UNITS)
    print(f"{options.orders_a_day:,.0f} orders a day need, in the busiest minutes: {_shown(needed)}")
    print(
        f"Lite plan: {'enough' if _fits(needed, LITE) else 'not enough'}. Standard plan: {blocks(needed)} blocks."
    )
    return 0


def page() -> str:
    return "\n".join([*_introduction(), *_requests(), *_units(), *_traffic(), *_sizes(), *_growth()]) + "\n"


def _introduction() -> Iterator[str]:
    yield "# What a traffic costs on Cloudant\n"
    yield "Cloudant sells reads (by id, and partition queries), writes and global queries a second. Written by `python -m deploy.costs --page`"
    yield "from calls that `tests/journeys/test_costs.py` counts on the running shop; change the traffic in `deploy/costs.py`.\n"
    yield f"Plans: Lite {_shown(LITE)}; one block of Standard {_shown(BLOCK)}. A call may use several units: see below.\n"


def _requests() -> Iterator[str]:
    yield "## Calls of one request\n\n| request | reads | global queries | writes |\n|---|---|---|---|"
    for name, calls in REQUESTS.items():
        yield f"| {name} | {calls.reads:g} | {calls.globals:g} | {calls.writes:g} |"
    yield "\n## Calls of one page\n\nA page for everybody may be kept by a CDN and costs nothing there.\n\n| page | reads | global queries | writes |\n|---|---|---|---|"
    for name, calls in PAGES.items():
        yield f"| {name} | {calls.reads:g} | {calls.globals:g} | {calls.writes:g} |"
    yield (
        "\nA search whose words no product has together costs one query more the first time, then one for ten minutes. That none has them all is known "
        "only from the answer, and one question for both would count what has fewer words in totals and filters where some product does have all."
    )
    yield f"\nAn order writes {WRITTEN_PER_ORDER} documents until it is delivered (the worker's included) and keeps {KEPT_PER_ORDER} of its own; one fewer where no product has a cost price."
    yield "Counted where one node has each document. On a cluster, and Cloudant is one, a list may lack what was written last: an order that is read whole takes 1 read more there, and another for what the list lacked; so does a product that staff look at, or that was made within ten minutes and that the view lacks, stock whose level nobody remembers, and a sync in which something is new. A gift card and store credit that pay are read entry by entry, 1 read each and some for the numbers behind them. What a person keeps (basket, addresses, wishes) takes 1 read more for each document that was written in the last ten minutes. Each document that replaces another takes 1 read more."
    yield "An order with goods that are sold beyond their stock keeps a document more, and one each time that some of them come; the worker asks every 10 s for those that wait: 1 read, and for each hundred of them, 500 at most each time, 1 global query, 1 read, and a partition query of products for each SKU. Of 2,000 that wait each is looked at every 40 s."
    yield f"Each act of staff writes {WRITTEN_PER_ACT} more in one request: its entry in the audit trail, and what it is found by, 1 for its actor and 1 for each of its subjects. A page of the trail is 1 read in each service and month, of an actor or a subject 2 reads in each service."


def _units() -> Iterator[str]:
    yield '\n## Units of one request\n\nWhat Cloudant counts of these calls (its page "Usage and charges" of July 2026): a document of a bulk is a write, a partition query is a read for each hundred rows of its index that are begun,'
    yield f"and one more for each document that it reads. Counted by minicouch under a plan (`tests/services/orders/test_units.py`). A category page lists {CATEGORY_PAGE} products here, an order has two lines and is paid; a checkout reads each promotion of the shop as well.\n"
    yield "| request | reads | global queries | writes |\n|---|---|---|---|"
    for name, units in UNITS.items():
        yield f"| {name} | {units.reads:g} | {units.globals:g} | {units.writes:g} |"


def _traffic() -> Iterator[str]:
    assumed = ", ".join(f"{times} × {name}" for name, times in PER_ORDER.items())
    yield f"\n## Traffic\n\nFor each order: {assumed}. The busiest hour holds {BUSIEST_HOUR:.0%} of a day, its busiest minutes {BURST:g} times as much.\n"
    yield "| orders a day | reads/s | global queries/s | writes/s | Lite plan | Standard blocks |\n|---|---|---|---|---|---|"
    for orders in (10, 30, 100, 1_000, 10_000, 100_000):
        need = a_second(orders, UNITS)
        lite = "enough" if _fits(need, LITE) else "no"
        yield f"| {orders:,} | {need.reads:,.1f} | {need.globals:,.1f} | {need.writes:,.1f} | {lite} | {blocks(need)} |"
    first, second = (_fullest(a_second(1, UNITS), plan)[0] for plan in (LITE, BLOCK))
    yield f"\nIn units. Of a Lite plan the {first} are used up first, of Standard the {second}. A cache before category and product pages (they carry an ETag) is the first to help."


def _sizes() -> Iterator[str]:
    yield "\n## Shards of the orders database\n\nChosen when it is made, for what it will hold: some 10 GB a shard. A partition query asks one shard, a global query"
    yield "all of them, so more shards than needed make history and reports dearer.\n\n| orders | documents | size | shards (q) |\n|---|---|---|---|"
    for orders in SIZES:
        documents = orders * KEPT_PER_ORDER
        yield f"| {orders:,} | {documents:,} | {documents * BYTES_PER_DOCUMENT / 1e9:,.0f} GB | {shards(orders)} |"
    yield "\nA partition holds one order, so none comes near the limit of 10 GB a partition, and there are as many as orders."


def _growth() -> Iterator[str]:
    yield "\n## Growth\n\nReckoned from the calls above, not run at these sizes. A CouchDB node of two cores is taken to answer"
    yield f"{NODE_CALLS:,} calls a second (measured: partition queries, 16 clients) and to be half busy; a global query counts {PRODUCT_SHARDS} calls, a write {COPIES}.\n"
    yield "| orders a day | documents of orders a year | size a year | shards for a year | CouchDB nodes | Cloudant blocks |\n|---|---|---|---|---|---|"
    for orders in GROWTH:
        need, documents = a_second(orders), orders * 365 * KEPT_PER_ORDER
        size = f"{documents * BYTES_PER_DOCUMENT / 1e9:,.2f} GB"
        yield f"| {orders:,} | {documents:,} | {size} | {shards(orders * 365)} | {nodes(need)} | {blocks(a_second(orders, UNITS))} |"
    yield from _first_limits()
    yield from _simulated()
    yield from _hot_partitions()
    yield from _stock()
    yield from piles.section()


def _first_limits() -> Iterator[str]:
    first, used = _fullest(a_second(1, UNITS), LITE)
    yield "\n### What breaks first\n\nThe class of calls that is nearest to its limit, and what is left of it with a cache before the shop (a CDN, `PAGE_CACHE_SECONDS`; products and lists carry"
    yield f"an ETag) that answers {KEPT_BEFORE:.0%} of {', '.join(KEPT_REQUESTS)} requests.\n"
    yield "| orders a day | Cloudant Lite: fullest class | Standard blocks, and behind a cache | three CouchDB nodes (100%: half busy), and behind a cache | remedy |\n|---|---|---|---|---|"
    for orders, remedy in zip(
        GROWTH,
        (
            "none needed",
            "Standard instead of Lite, or a cache",
            "a cache, and blocks or nodes for the searches that are left",
        ),
        strict=True,
    ):
        busiest = in_the_busiest_minutes(orders)
        units, kept_units = (each.times(busiest) for each in (per_order(UNITS), behind_a_cache(UNITS)))
        calls, kept_calls = (each.times(busiest) for each in (per_order(), behind_a_cache()))
        name, share = _fullest(units, LITE)
        yield f"| {orders:,} | {name} {share:.0%} | {blocks(units)}, {blocks(kept_units)} | {_busy(calls):.0%}, {_busy(kept_calls):.0%} | {remedy} |"
    yield f"\nThe {first} of category pages break first, on a Lite plan at some {1 / used:,.0f} orders a day on average; one such page is more than a second of it. Built in: the menu, the counts of filters and the first pages of departments are kept by the shop;"
    yield "pages that are the same for everybody are kept for `PAGE_CACHE_SECONDS`; what is too many is a 429 of the database, asked again with a pause, and a 503 with Retry-After to the customer when that takes too long:"
    yield "`tests/faults/test_lite_plan.py` has thirty orders with searches and histories at once under a Lite plan's rates, all placed and delivered, none twice."


def _simulated() -> Iterator[str]:
    """The busiest minutes, call by call."""
    yield "\n### The busiest minutes, simulated\n\nAverages say nothing of those who come together. `deploy/traffic.py` lets requests come at random (Poisson), counts each class over the last second as Cloudant does, asks again as the client library does"
    yield f"(a pause that doubles, {TIMEOUT:g} s in all), and then gives a 503; what the worker writes of an order waits until it is written. A block more is added until no more than {ENOUGH:.1%} of the requests get a 503. Seeded, so that it says the same each time;"
    yield "units as above. A cache is the one of the table above.\n"
    yield "| orders a day | plan | requests | of them wait | get a 503 | p99 of the wait | calls refused: reads, global queries, writes | the worker's wait for an order, p50 and p99 |\n|---|---|---|---|---|---|---|---|"
    for orders, is_cached, plan in _SCENARIOS:
        kinds = _kinds(orders, is_cached)
        seconds = min(3600.0, SIMULATED_REQUESTS / sum(kind.rate for kind in kinds))
        rates, said = _named(LITE), plan
        if plan == "Standard":
            costs = behind_a_cache(UNITS) if is_cached else per_order(UNITS)
            reckoned = blocks(costs.times(in_the_busiest_minutes(orders)))
            enough = blocks_that_hold(kinds, _named(BLOCK), seconds, reckoned)
            rates, said = several(_named(BLOCK), enough), f"{enough} blocks of Standard ({reckoned} reckoned)"
        before = ", behind a cache" if is_cached else ""
        yield f"| {orders:,}{before} | {said} | {_met(simulate(kinds, rates, seconds))} |"
    yield "\nCouchDB nodes do not refuse, calls queue. The wait in that queue, for nodes of the table above and for three, over 60 s (it grows for as long as they are too few):\n"
    yield "| orders a day | calls a second | nodes | p50 | p99 |\n|---|---|---|---|---|"
    for orders in GROWTH:
        need = a_second(orders)
        for count in sorted({MIN_NODES, nodes(need)}):
            waits = queue_waits(_node_calls(need), count * NODE_CALLS, 60)
            yield f"| {orders:,} | {_node_calls(need):,.1f} | {count} | {percentile(waits, 0.5) * 1000:,.1f} ms | {percentile(waits, 0.99) * 1000:,.1f} ms |"


def _kinds(orders_a_day: float, is_cached: bool) -> tuple[Kind, ...]:
    """Requests of the busiest minutes, and the worker."""
    rate = in_the_busiest_minutes(orders_a_day)
    left = {name: 1 - KEPT_BEFORE if is_cached and name in KEPT_REQUESTS else 1 for name in PER_ORDER}
    asked = [Kind(name, each * rate * left[name], _calls(UNITS[name])) for name, each in PER_ORDER.items()]
    written = WRITTEN_PER_ORDER - int(UNITS["checkout"].writes)
    return (*asked, Kind("the worker", rate, ((WRITE, written),), is_patient=True))


def _calls(units: Calls) -> tuple[tuple[str, int], ...]:
    """Reads and writes as one call each, global queries one by one."""
    reads = ((READ, int(units.reads)),) if units.reads else ()
    writes = ((WRITE, int(units.writes)),) if units.writes else ()
    return (*reads, *((QUERY, 1),) * int(units.globals), *writes)


def _named(plan: Calls) -> dict[str, float]:
    return dict(zip((READ, QUERY, WRITE), _parts(plan), strict=True))


def _met(minutes: Minutes) -> str:
    refused = ", ".join(f"{minutes.refused[name]:,}" for name in (READ, QUERY, WRITE))
    worker = ", ".join(f"{percentile(minutes.work_waits, share):,.1f} s" for share in (0.5, 0.99))
    return (
        f"{minutes.requests:,} | {minutes.share_delayed:.1%} | {minutes.share_given_up:.1%} | "
        f"{percentile(minutes.waits, 0.99):.2f} s | {refused} | {worker}"
    )


def _hot_partitions() -> Iterator[str]:
    """What the busiest category and the best-selling product have to bear."""
    reads = REQUESTS["category page"].reads * PER_ORDER["category page"]
    yield f"\n### Hot partitions\n\nThe busiest category is taken to have {HOT_SHARE:.0%} of the category pages and sales ({LINES_PER_ORDER} lines an order). Its partition is one shard, which each of the three nodes has; a partition's"
    yield "queries cost the same over 10,000 and 1,000,000 documents (`make bench`). The best-selling product is taken to be in every fifth order, too.\n"
    yield "| orders a day | its reads/s | of three nodes | behind a cache | its lines a year | documents kept | size | sales of one product, a second |\n|---|---|---|---|---|---|---|---|"
    for orders in GROWTH:
        pages = reads * in_the_busiest_minutes(orders) * HOT_SHARE
        lines = orders * 365 * LINES_PER_ORDER * HOT_SHARE
        documents = lines * SALE_DOCUMENTS * HISTORY_DAYS / 365
        size, most = documents * BYTES_PER_DOCUMENT, MIN_NODES * NODE_CALLS * NODE_SHARE
        behind = pages * (1 - KEPT_BEFORE)
        sales = in_the_busiest_minutes(orders) * HOT_SHARE
        yield f"| {orders:,} | {pages:,.1f} | {pages / most:.1%} | {behind / most:.1%} | {lines:,.0f} | {documents:,.0f} | {size / 1e9:,.2f} GB | {sales:,.3f} |"
    full = PARTITION_BYTES / (
        365 * LINES_PER_ORDER * HOT_SHARE * SALE_DOCUMENTS * HISTORY_DAYS / 365 * BYTES_PER_DOCUMENT
    )
    yield f"\nOn Cloudant the stock of that category is what breaks first: its partition is full at some {full:,.0f} orders a day, totals of `STOCK_HISTORY_DAYS` included. The remedies: fewer days, which removes more"
    yield "movements; or two categories in place of one (a product that is moved begins a new chain there). CouchDB keeps the same limit; `max_partition_size` in `[couchdb]` raises it. Once it is full neither a total nor the end of a chain can be written, so do it before. One product's stock is a chain of slots, each written after the one before: its buyers"
    yield "queue, those of other products do not; a reservation writes its slot with the one that it expects to be the last, and takes the next where another was quicker."


def _fullest(needed: Calls, plan: Calls) -> tuple[str, float]:
    """The class that is nearest to its limit, and how much of it is used."""
    classes = zip((READ, QUERY, WRITE), _parts(needed), _parts(plan), strict=True)
    return max(((name, need / have) for name, need, have in classes), key=lambda each: each[1])


def _busy(needed: Calls) -> float:
    """Share of what three nodes that are half busy answer."""
    return _node_calls(needed) / NODE_CALLS / NODE_SHARE / MIN_NODES


def _node_calls(needed: Calls) -> float:
    """As the nodes of CouchDB see them."""
    return needed.reads + needed.globals * PRODUCT_SHARDS + needed.writes * COPIES


def _stock() -> Iterator[str]:
    """What sales leave in the partition of a category."""
    yield "\n## Stock of a category\n\nA sale of a product or variant (a line of an order) leaves"
    yield f"{SALE_DOCUMENTS} documents in the category's partition. After {HISTORY_DAYS} days (`STOCK_HISTORY_DAYS`) {MOVEMENTS_OF_A_TOTAL:,} movements of a product become one total, and what they stood for is"
    yield f"removed; of a removed document the database keeps its id and revision, taken to be {TOMBSTONE_BYTES} bytes. A product that sells fewer than {MOVEMENTS_OF_A_TOTAL:,} keeps its movements."
    yield f"A partition may have {PARTITION_BYTES / 1e9:g} GB on Cloudant; no more is written there then (`partition_overflow`: its goods are a 503 until there is room, `tests/services/products/test_full_partition.py`). A product that is moved to another category begins a new chain of"
    yield "stock there, and its sales are written there. A category of a million products, each with its first movement, holds 2 GB. Reckoned, not run at these sizes:\n"
    yield "| lines sold in a category a year | documents kept | size kept | and of removed ones, a year | without totals: full after |\n|---|---|---|---|---|"
    for lines in (1_000, 100_000, 1_000_000, 3_000_000):
        kept = lines * SALE_DOCUMENTS * HISTORY_DAYS / 365
        removed = lines * SALE_DOCUMENTS * TOMBSTONE_BYTES
        years = PARTITION_BYTES / (lines * SALE_DOCUMENTS * BYTES_PER_DOCUMENT)
        size = f"{kept * BYTES_PER_DOCUMENT / 1e9:,.3f} GB"
        yield f"| {lines:,} | {kept:,.0f} | {size} | {removed / 1e9:,.4f} GB | {years:,.1f} years |"


def _parts(calls: Calls) -> tuple[float, float, float]:
    return calls.reads, calls.globals, calls.writes


def _fits(needed: Calls, plan: Calls) -> bool:
    return all(need <= have for need, have in zip(_parts(needed), _parts(plan), strict=True))


def _shown(calls: Calls) -> str:
    return (
        f"{calls.reads:,.3g} reads, {calls.globals:,.3g} global queries, {calls.writes:,.3g} writes a second"
    )


if __name__ == "__main__":
    sys.exit(main())
