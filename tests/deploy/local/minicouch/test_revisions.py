"""Revision trees and ids: the rules of CouchDB, checked without a server."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.local.minicouch.documents.revision_ids import new_rev
from deploy.local.minicouch.documents.revisions import (
    RevisionTree,
    history,
    missing,
    normal_rev,
    parse_revisions,
)
from deploy.local.minicouch.errors import CouchError

EMPTY = "1-967a00dff5e02add41819138abb3284d"


def tree(*paths: tuple[list[str], bool]) -> RevisionTree:
    made = RevisionTree()
    for path, deleted in paths:
        made.merge(path, deleted)
    return made


@pytest.mark.parametrize(
    ("parent", "deleted", "body", "rev"),
    [
        (None, False, {}, EMPTY),
        (EMPTY, True, {}, "2-eec205a9d413992850a6e32678485900"),
        (EMPTY, False, {"v": 2}, "2-39d6b69a215997ebb2e6c0b28fbd5a08"),
        (None, False, {"x": 1, "t": [1, 2, 3.5, None, True, "é"]}, "1-4b9ae39024c73f9a7868989e253619c9"),
        (None, False, {"v": "a"}, "1-cd6dcd82d939d5b6220025fbc573b36a"),
        ("1-abc", False, {}, "2-4a197020586a4dd9ea6eb97053f996e4"),
    ],
)
def test_ids_are_those_a_couchdb_gave(parent: str | None, deleted: bool, body: dict, rev: str):
    assert new_rev(parent, deleted, body, []) == rev


def test_attachments_are_part_of_the_id():
    one = new_rev(None, False, {}, [("a", "text/plain", b"0" * 16)])
    other = new_rev(None, False, {}, [("a", "text/plain", b"1" * 16)])
    assert len({one, other, EMPTY}) == 3


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), json_values, max_size=5), st.booleans())
def test_an_id_depends_on_nothing_but_the_edit(body: dict, deleted: bool):
    assert new_rev(EMPTY, deleted, body, []) == new_rev(EMPTY, deleted, dict(body), [])
    assert new_rev(None, deleted, body, []) != new_rev(EMPTY, deleted, body, [])
    assert new_rev(EMPTY, not deleted, body, []) != new_rev(EMPTY, deleted, body, [])


def test_the_winner():
    assert tree((["2-b", "1-a"], False), (["2-c", "1-a"], False)).winner() == "2-c"
    assert tree((["3-x", "2-b", "1-a"], True), (["2-c", "1-a"], False)).winner() == "2-c"
    assert tree((["3-x", "2-b", "1-a"], True), (["2-c", "1-a"], True)).winner() == "3-x"
    assert tree((["10-a"], False), (["9-z"], False)).winner() == "10-a"


def test_conflicts_best_first():
    found = tree((["2-b", "1-a"], False), (["2-c", "1-a"], False), (["2-d", "1-a"], True), (["1-e"], False))
    assert found.conflicts() == (["2-b", "1-e"], ["2-d"])
    assert found.leaves_in_tree_order() == ["1-e", "2-b", "2-c", "2-d"]
    assert found.leaves_under("1-a") == ["2-b", "2-c", "2-d"]


def test_what_a_merge_says():
    made = RevisionTree()
    assert made.merge(["1-a"], False) == "new_leaf"
    assert made.merge(["2-b", "1-a"], False) == "new_leaf"
    assert made.merge(["2-b", "1-a"], False) == "internal"
    assert made.merge(["1-a"], False) == "internal"
    assert made.merge(["2-c", "1-a"], False) == "new_branch"


def test_a_stemmed_root_learns_its_ancestors():
    made = tree((["3-c"], False))
    made.merge(["4-d", "3-c", "2-b", "1-a"], False)
    assert made.path("4-d") == ["4-d", "3-c", "2-b", "1-a"]
    assert made.leaves() == ["4-d"]


def test_stemming_keeps_what_any_leaf_needs():
    made = tree((["4-d", "3-c", "2-b", "1-a"], False), (["3-x", "2-b", "1-a"], False))
    assert set(made.stem(2)) == {"1-a"}
    assert made.path("4-d") == ["4-d", "3-c", "2-b"]
    assert made.path("3-x") == ["3-x", "2-b"]


def test_purging_takes_only_what_no_other_leaf_needs():
    made = tree((["3-c", "2-b", "1-a"], False), (["3-x", "2-b", "1-a"], False))
    assert made.purge("2-b") == []
    assert made.purge("3-c") == ["3-c"]
    assert made.purge("3-x") == ["3-x", "2-b", "1-a"]
    assert made.nodes == {}


def test_what_is_missing():
    made = tree((["2-b", "1-a"], False), (["2-c", "1-a"], True))
    assert missing(made, ["2-b", "1-a"]) == ([], [])
    assert missing(made, ["3-z", "2-b"]) == (["3-z"], ["2-b", "2-c"])
    assert missing(None, ["1-a"]) == (["1-a"], [])


def random_path(rng: random.Random) -> tuple[list[str], bool]:
    """A history whose every hash stands for all that came before it, as real ones do."""
    steps = "".join(rng.choice("abc") for _ in range(rng.randint(1, 5)))
    return history(len(steps), [steps[:n] for n in range(len(steps), 0, -1)]), rng.random() < 0.3


@pytest.mark.parametrize("seed", range(50))
def test_merging_is_the_same_in_any_order(seed: int):
    """Replicas that saw the same histories agree, whatever came first."""
    rng = random.Random(seed)
    seen: dict[str, bool] = {}
    paths = []
    for path, deleted in (random_path(rng) for _ in range(8)):
        paths.append((path, seen.setdefault(path[0], deleted)))
    inner = {rev for path, _ in paths for rev in path[1:]}
    paths = [(path, deleted and path[0] not in inner) for path, deleted in paths]
    forwards, backwards = tree(*paths), tree(*reversed(paths))
    assert set(forwards.leaves()) == set(backwards.leaves())
    assert forwards.winner() == backwards.winner()
    assert forwards.conflicts() == backwards.conflicts()


@given(st.lists(st.sampled_from(["1-a", "2-b", "2-c", "3-d"]), max_size=4, unique=True))
def test_trees_survive_storage(revs: list[str]):
    made = tree(*((history(int(rev[0]), [rev[2:], "y", "z"][: int(rev[0])]), False) for rev in revs))
    assert RevisionTree.loads(made.dumps()).nodes == made.nodes


def test_normal_revisions():
    assert normal_rev("1-0123456789ABCDEF0123456789abcdef") == "1-0123456789abcdef0123456789abcdef"
    assert normal_rev("3-Short") == "3-Short"
    for bad in (3, None, "x", "-1-a", "a-1", "", "1"):
        with pytest.raises(CouchError, match="Invalid rev format"):
            normal_rev(bad)


def test_revisions_member():
    assert parse_revisions({"start": 2, "ids": ["b", "a"]}) == ["2-b", "1-a"]
    for bad in ({"start": "a", "ids": []}, {"start": 1, "ids": 3}, {"start": 1, "ids": [3]}, {}):
        with pytest.raises(CouchError) as refused:
            parse_revisions(bad)
        assert refused.value.error == "doc_validation"
