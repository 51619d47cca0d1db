"""Copies of dataclasses with other values in some fields."""

from dataclasses import replace

import pytest

from shared.couch import altered, search_for


def test_a_copy_is_what_dataclasses_would_make_of_it():
    query = search_for("forged knife", filters={"brand": ("Alder",)})
    wanted = {"prefix": None, "words": ("forged", "knives"), "forgiven": frozenset({"knives"})}

    copy = altered(query, **wanted)

    assert copy == replace(query, **wanted)
    assert query == search_for("forged knife", filters={"brand": ("Alder",)})


def test_a_field_that_is_not_there_is_refused():
    with pytest.raises(TypeError, match="SearchQuery has no suffix"):
        altered(search_for("knife"), suffix="s")
