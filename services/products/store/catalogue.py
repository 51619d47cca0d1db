"""Reads and writes of products and their price history."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Literal, TypeVar, cast

from services.products.declarations.product import Product
from services.products.declarations.related_documents import PriceChange, ProductNote
from services.products.documents import (
    BEST_RATED,
    BY_NAME,
    BY_PRODUCTID,
    BY_RANK,
    CATEGORIES,
    CONFLICTS,
    LABELS,
    LOW_STOCK,
    MOVED,
    PRICE_CHANGE,
    PRODUCT,
    PRODUCT_NOTE,
    SALE_CHANGES,
    SCHEDULED,
    STOCK_VALUE,
    UNPUBLISHED,
    category_order,
    filter_values,
    note_prefix,
    partition_of,
    price_prefix,
)
from services.products.rules.categories import below
from services.products.rules.product import by_any_id, by_own_id, deduplicate_moved, is_product, supersedes
from services.products.rules.publishing import is_public, words_of
from services.products.rules.variants import skus_of
from services.products.search_indexes import search_indexes
from services.products.store.indexed_ids import IndexedIds
from services.products.translations import translated
from shared.couch import (
    Changes,
    Database,
    Doc,
    Document,
    FindIndex,
    NoSuchDocument,
    Page,
    PageOf,
    SearchPage,
    SearchPageOf,
    SearchQuery,
    UpdateConflict,
    Written,
    altered,
    quorum,
)
from shared.recent import Recent

MAX_FILTER_ROWS: Final = 20_000

_ORDERS: Final[dict[str, tuple[FindIndex, str]]] = {
    "name": (BY_NAME, "asc"),
    "-name": (BY_NAME, "desc"),
    "rating": (BY_RANK, "desc"),
}

D = TypeVar("D", bound=Document)


class Catalogue:
    """Errors are those of `shared.couch`."""

    def __init__(
        self,
        database: Database,
        languages: Sequence[str] = ("en",),
        read_in: str = "",
        groups: tuple[str, ...] = (),
        indexed: IndexedIds | None = None,
        recent: Recent | None = None,
    ) -> None:
        """`languages` are the shop's, its own first; `read_in` is the one that products are read in, "" its own: they are to be shown then,
        never written. `groups` are the customer groups whose prices sort and filter. `recent` has the documents that were just made, by all
        ids of their products, for the views of a node that is behind."""
        self._database, self._languages, self.read_in = database, tuple(languages), read_in
        self.groups: Final = groups
        self._indexed, self._recent = indexed or IndexedIds(), recent
        searched = read_in if read_in in languages else languages[0]
        self._search, self._search_in_category = search_indexes(languages[0], searched, groups)
        self.language: Final = self._search.language

    def in_language(self, language: str) -> "Catalogue":
        """The same for reading in a language: where a product is translated, what it says there."""
        return Catalogue(self._database, self._languages, language, self.groups, self._indexed, self._recent)

    @property
    def is_sorted_by_search(self) -> bool:
        """Whether names are in another order than that of the indexes of the shop's own language."""
        return self._search.translation is not None

    def category_by(
        self, sort: str, taxonomy: Sequence[str], more: Doc, limit: int, cursor: str | None
    ) -> PageOf[Product]:
        """P1: a page of one category; `more` narrows it. 1 partition query: a view's where nothing does, at half the database's work."""
        index, direction = _ORDERS[sort]
        field = index.fields[0]
        if not more:
            return self._in_order(
                taxonomy, [field], [field, {}], limit, cursor, descending=direction == "desc"
            )
        selector = {field: {"$gt": None}, **more}
        page = self._database.partition(partition_of(taxonomy)).find(
            index, selector, sort=[{field: direction}], limit=limit, bookmark=cursor, allow_stale=True
        )
        return PageOf(_public(self._read(PRODUCT.among(page.items))), page.next, stale=page.stale)

    def category_by_price(
        self,
        taxonomy: Sequence[str],
        price: str,
        least: int | None,
        most: int | None,
        limit: int,
        cursor: str | None,
        *,
        descending: bool = False,
    ) -> PageOf[Product]:
        """P1: a page of one category, sorted by the price of this name (`price_fields.price_name`). 1 partition query."""
        if least is not None and most is not None and least > most:
            return PageOf([], None)
        low: list[Any] = [price, least or 0]
        high: list[Any] = [price, {} if most is None else most]
        return self._in_order(taxonomy, low, high, limit, cursor, descending=descending)

    def _in_order(
        self,
        taxonomy: Sequence[str],
        low: list[Any],
        high: list[Any],
        limit: int,
        cursor: str | None,
        *,
        descending: bool,
    ) -> PageOf[Product]:
        start, end = (high, low) if descending else (low, high)
        page = self._database.partition(partition_of(taxonomy)).view_page(
            category_order(self.groups),
            start=start,
            end=end,
            descending=descending,
            include_docs=True,
            limit=limit,
            cursor=cursor,
            allow_stale=True,
        )
        return self._docs(page)

    def cheapest_first(self, taxonomy: Sequence[str], limit: int) -> list[Product]:
        """Products of one category as they are now, each by the price in its own currency. 1 partition query."""
        partition = self._database.partition(partition_of(taxonomy))
        rows = partition.view(
            category_order(self.groups), start=[""], end=["", {}], include_docs=True, limit=limit
        )
        found = [row["doc"] for row in rows if row.get("doc")]
        return self._read(_public([doc for doc in found if is_product(doc)]))

    def filter_values(self, taxonomy: Sequence[str]) -> list[dict[str, Any]]:
        """Rows {key: what products of a category are filtered by, value: how many are alike}, some MAX_FILTER_ROWS at most; maybe
        StaleRows. 1 partition query."""
        partition = self._database.partition(partition_of(taxonomy))
        return partition.view(
            filter_values(self.groups), group=True, limit=MAX_FILTER_ROWS + 1, allow_stale=True
        )

    def categories(self, under: Sequence[str], depth: int | None) -> list[dict[str, Any]]:
        """P2: rows {key: taxonomy down to `depth` levels below `under`, value: products}; maybe StaleRows. 1 global query."""
        grouping: dict[str, Any] = {"group": True} if depth is None else {"group_level": len(under) + depth}
        return self._database.across_partitions.view(CATEGORIES, **below(under), **grouping, allow_stale=True)

    def subtree(
        self, taxonomy: Sequence[str], limit: int, cursor: str | None, *, allow_stale: bool = True
    ) -> PageOf[Product]:
        """P3: products of a category and all below it, category by category. 1 global query."""
        at = below(taxonomy)
        page = self._database.across_partitions.view_page(
            CATEGORIES, **at, include_docs=True, limit=limit, cursor=cursor, allow_stale=allow_stale
        )
        return self._docs(page)

    def by_productid(self, productid: str, *, allow_stale: bool = True) -> Product:
        """P4: a product by its productid or a SKU alone. 1 global query. Raises NoSuchDocument."""
        found = self.all_by_productid([productid], allow_stale=allow_stale)
        if productid not in found:
            raise NoSuchDocument(f"There is no product {productid}.")
        return found[productid]

    def by_productid_on_most_nodes(self, productid: str) -> Product:
        """P4: the same on a cluster, whose view is one node's, which may be behind. 1 global query and 1 read. Raises NoSuchDocument."""
        named = [doc["_id"] for doc in self._places([productid])]
        docs = self._database.get_many(named).values()
        found = by_any_id(deduplicate_moved(self._followed([{"doc": doc} for doc in docs])))
        if productid not in found:
            raise NoSuchDocument(f"There is no product {productid}.")
        return found[productid]

    def all_by_productid(self, productids: Sequence[str], *, allow_stale: bool = True) -> dict[str, Product]:
        """P4: those that exist, by the productid or SKU asked for. 1 global query.

        The documents are as they are now even when the index is behind; it only lacks products made in the last seconds.
        """
        if not productids:
            return {}
        found = by_any_id(deduplicate_moved(self._places(productids, allow_stale=allow_stale)))
        return {each: found[each] for each in productids if each in found}

    def all_to_sell(self, productids: Sequence[str]) -> dict[str, Product]:
        """P4: the same for baskets and orders. Each order writes to this database, and the next would have the index take that in first: it is
        asked as it is for what it is known to have. 1 global query, 1 more when something has left it.
        """
        if not productids or not self._indexed.have_all(productids):
            found = self.all_by_productid(productids)
            own = by_own_id(found.values())
            self._indexed.add(each for each in found if each in own)
            return found
        found = by_own_id(deduplicate_moved(self._places(productids, update="false")))
        if all(each in found for each in productids):
            return {each: found[each] for each in productids}
        self._indexed.remove(productids)
        return self.all_by_productid(productids)

    def copies(self, productid: str, expected_id: str | None = None) -> list[Product]:
        """The documents of one product, or of that whose SKU it is: two while it is being moved, the newer place first. 1 global query
        and 1 read, 1 more where the view names no place that the product is in.

        For who is about to write. A cluster's view may be late: what it names is read again, and the document id `expected_id` for too.
        """
        named = {*(doc["_id"] for doc in self._places([productid])), *((expected_id,) if expected_id else ())}
        docs = self._followed([{"doc": doc} for doc in self._database.get_many(sorted(named)).values()])
        docs = [doc for doc in docs if productid == doc["productid"] or productid in skus_of(doc)]
        return docs[::-1] if len(docs) == 2 and supersedes(docs[1], docs[0]) else docs

    def search(self, query: SearchQuery, limit: int, cursor: str | None) -> SearchPageOf[Product]:
        """P6: products everywhere by words, filters and facets. 1 global query."""
        page = self._database.across_partitions.search(self._search, query, limit=limit, bookmark=cursor)
        return self._hits(page)

    def search_in_category(
        self, taxonomy: Sequence[str], query: SearchQuery, limit: int, cursor: str | None
    ) -> SearchPageOf[Product]:
        """P5: products of one category by words; no facets. 1 partition query."""
        partition = self._database.partition(partition_of(taxonomy))
        page = partition.search(self._search_in_category, query, limit=limit, bookmark=cursor)
        return self._hits(page)

    def best_rated(self, limit: int, cursor: str | None) -> PageOf[Product]:
        """P8: the leaderboard. 1 global query."""
        across = self._database.across_partitions
        return self._docs(
            across.view_page(
                BEST_RATED, include_docs=True, descending=True, limit=limit, cursor=cursor, allow_stale=True
            )
        )

    def low_stock(self, most: int, limit: int, cursor: str | None) -> PageOf[Product]:
        """Products with at most so many left, the fewest first. 1 global query."""
        across = self._database.across_partitions
        return self._docs(
            across.view_page(
                LOW_STOCK, end=most, include_docs=True, limit=limit, cursor=cursor, allow_stale=True
            )
        )

    def stock_value(self, depth: int) -> list[Doc]:
        """Key: a category's path, cut to so many levels; value {"all": [units, 0], currency: [units, value]}. 1 global query."""
        return self._database.across_partitions.view(STOCK_VALUE, group_level=depth, allow_stale=True)

    def price_history(self, taxonomy: Sequence[str], productid: str) -> list[PriceChange]:
        """The price changes of a product, newest first. 1 partition query."""
        partition = self._database.partition(partition_of(taxonomy))
        return PRICE_CHANGE.among(partition.all(price_prefix(productid), descending=True))

    def history(self, taxonomy: Sequence[str], productid: str) -> list[Doc]:
        """Everything that lies under a product in its partition. 1 partition query."""
        return self._database.partition(partition_of(taxonomy)).all(f"{productid}:")

    def notes(self, taxonomy: Sequence[str], productid: str) -> list[ProductNote]:
        """What staff noted on a product, the latest first. 1 partition query."""
        notes = self._database.partition(partition_of(taxonomy)).all(note_prefix(productid))
        return PRODUCT_NOTE.among(sorted(notes, key=lambda note: (note["date"], note["_id"]), reverse=True))

    def add_once(self, doc: Document) -> bool:
        """Whether this write made the document; False when it was there already."""
        try:
            self._database.put(doc)
        except UpdateConflict:
            return False
        return True

    def public_products(self, limit: int, cursor: str | None, *, allow_stale: bool = True) -> PageOf[Product]:
        """All products that the shop shows, category by category. 1 global query a page."""
        return self.subtree((), limit, cursor, allow_stale=allow_stale)

    def unpublished(
        self, reason: str | None, word: str, limit: int, cursor: str | None, *, allow_stale: bool = True
    ) -> PageOf[Product]:
        """Products that the shop does not show for a reason (None: any), by name; with a `word`, those with one that begins so. 1 global query."""
        start: list[Any] = [] if reason is None else [reason, word]
        end: list[Any] = [{}] if reason is None else [reason, f"{word}\ufff0" if word else "", {}]
        page = self._database.across_partitions.view_page(
            UNPUBLISHED,
            start=start,
            end=end,
            include_docs=True,
            limit=limit,
            cursor=cursor,
            allow_stale=allow_stale,
        )
        rows = [row for row in page.items if row.get("doc") and row["key"][1] == _first(row["doc"], word)]
        docs = {doc["productid"]: doc for doc in self._followed(rows) if not is_public(doc)}
        return PageOf(list(docs.values()), page.next)

    def due_to_publish(self, moment: str, limit: int) -> list[Product]:
        """Products whose time to be published has come. 1 global query, for the worker."""
        rows = self._database.across_partitions.view(SCHEDULED, end=moment, include_docs=True, limit=limit)
        docs = [row["doc"] for row in rows if row.get("doc")]
        return [doc for doc in docs if is_product(doc) and not is_public(doc)]

    def sale_changes(self, since: str, until: str) -> dict[str, str]:
        """{document id: when, at last} of the products whose sales begin or end in this stretch of time. 1 global query, for the worker."""
        rows = self._database.across_partitions.view(SALE_CHANGES, start=since, end=until)
        return {row["id"]: row["key"] for row in rows}

    def moved_since(self, moment: str) -> dict[str, str]:
        """{document id: the one it replaces} of products that moved since then. 1 global query, for the worker."""
        rows = self._database.across_partitions.view(MOVED, start=moment)
        return {row["id"]: row["value"] for row in rows}

    def conflicts(self, limit: int) -> list[dict[str, Any]]:
        """Documents with conflicting revisions, {id, key: type, value: revisions}. 1 global query, for the worker."""
        return self._database.across_partitions.view(CONFLICTS, limit=limit)

    def all_conflicts(self, page: int) -> Iterator[dict[str, Any]]:
        """Every one of them. 1 global query for each `page` of them, for the worker."""
        cursor: str | None = None
        while True:
            found = self._database.across_partitions.view_page(CONFLICTS, limit=page, cursor=cursor)
            yield from found.items
            if (cursor := found.next) is None:
                return

    def get(self, docid: str, rev: str | None = None) -> Doc:
        return self._database.get(docid, rev=rev)

    def get_many(self, docids: Sequence[str]) -> dict[str, Doc]:
        """Those that exist, products and forwards, by document id. 1 read."""
        return self._in_its_language(self._database.get_many(docids))

    def to_show(self, docids: Sequence[str]) -> dict[str, Doc]:
        """The same for a page that shows them. 1 read."""
        return self._in_its_language(self._database.latest_many(docids))

    def _in_its_language(self, docs: dict[str, Doc]) -> dict[str, Doc]:
        if not self.read_in:
            return docs
        read: dict[str, Any] = {
            docid: translated(doc, self.read_in) if is_product(doc) else doc for docid, doc in docs.items()
        }
        return read

    def labels(self) -> list[dict[str, Any]]:
        """Rows {key: [language, text, label], value: how many products say so}. 1 global query."""
        return self._database.across_partitions.view(LABELS, group=True, allow_stale=True)

    def follow_many(self, docids: Sequence[str]) -> dict[str, Product]:
        """The products whose documents have, or had, these ids, by productid. 1 read, 1 more when one was moved."""
        docs = self._followed([{"doc": doc} for doc in self.get_many(docids).values()])
        return {doc["productid"]: doc for doc in docs}

    def put(self, doc: D) -> D:
        """Writes and returns the document with its new revision. Raises UpdateConflict."""
        written = cast(D, {**doc, "_rev": self._database.put(doc)})
        self._remember([doc])
        return written

    def put_many(self, docs: Iterable[Document]) -> list[Written]:
        """1 write; every document on its own."""
        docs = list(docs)
        written = self._database.put_many(docs)
        self._remember(doc for doc in docs if "_rev" not in doc)
        return written

    def take_back_unsure(self, rows: Iterable[Written]) -> bool:
        """Takes back what too few nodes took; whether there was any. 1 write each."""
        return quorum.take_back_unsure(self._database, rows)

    def delete(self, docid: str, rev: str) -> None:
        self._database.delete(docid, rev)

    @property
    def has_one_copy(self) -> bool:
        """Whether one node holds each document: whatever was written is in every later answer then."""
        return self._database.has_one_copy

    def changes(self, since: str, limit: int) -> Changes:
        """Ids of what changed since a place in the changes feed, for the worker. 1 read."""
        return self._database.changes(since, limit=limit, include_docs=False)

    def _places(
        self,
        productids: Sequence[str],
        *,
        allow_stale: bool = False,
        update: Literal["true", "false"] = "true",
    ) -> list[Product]:
        rows = self._database.across_partitions.view(
            BY_PRODUCTID, keys=list(productids), include_docs=True, allow_stale=allow_stale, update=update
        )
        found = self._followed(rows)
        if update == "true":
            found += self._just_made(productids, found)
        return list({doc["_id"]: doc for doc in found}.values())

    def _remember(self, docs: Iterable[Document]) -> None:
        if self._recent is not None and not self.has_one_copy:
            ids = {
                each: [doc["_id"]]
                for doc in filter(is_product, docs)
                for each in (doc["productid"], *skus_of(doc))
            }
            self._recent.remember_many(ids)

    def _just_made(self, productids: Sequence[str], found: Iterable[Product]) -> list[Product]:
        """Those of the products that are not `found`, and that a view of one node of a cluster may lack. 1 read where there are any."""
        known = by_any_id(found)
        lacking = [each for each in productids if each not in known]
        if self._recent is None or not lacking or self.has_one_copy:
            return []
        made = self._recent.of_many(lacking)
        if not (docids := {docid for each in made.values() for docid in each}):
            return []
        docs = self._followed([{"doc": doc} for doc in self.get_many(sorted(docids)).values()])
        return [doc for doc in docs if not made.keys().isdisjoint((doc["productid"], *skus_of(doc)))]

    def _docs(self, page: Page) -> PageOf[Product]:
        return PageOf(_public(self._followed(page.items)), page.next)

    def _followed(self, rows: list[dict[str, Any]]) -> list[Product]:
        """The products of view rows; one that moved between the reading of its row and of its document is read where it is, 1 read more."""
        docs = [row["doc"] for row in rows if row.get("doc")]
        found = [doc for doc in docs if is_product(doc)]
        there = {doc["productid"] for doc in found}
        ahead = {doc["moved_to"] for doc in docs if not is_product(doc) and doc["productid"] not in there}
        read = self._read(found)
        if ahead:
            read += [doc for doc in self.get_many(sorted(ahead)).values() if is_product(doc)]
        return read

    def _read(self, docs: list[Product]) -> list[Product]:
        return [translated(doc, self.read_in) for doc in docs] if self.read_in else docs

    def _hits(self, found: SearchPage) -> SearchPageOf[Product]:
        page = _public_hits(found)
        return altered(page, items=self._read(page.items)) if self.read_in else page


def _first(doc: Product, word: str) -> str:
    """Which of a product's rows stands for it, where several of its words begin with this one."""
    return min((each for each in words_of(doc) if each.startswith(word)), default="") if word else ""


def _public(docs: list[Product]) -> list[Product]:
    """Without those that an index that is behind still has."""
    return [doc for doc in docs if is_public(doc)]


def _public_hits(found: SearchPage) -> SearchPageOf[Product]:
    page = cast(SearchPageOf[Product], found)
    if all(map(is_public, page.items)):
        return page
    scores = tuple(score for doc, score in zip(page.items, page.scores, strict=False) if is_public(doc))
    return altered(page, items=_public(page.items), scores=scores)
