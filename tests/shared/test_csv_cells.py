"""Cells that spreadsheets would run are made harmless, and read back as they were."""

from hypothesis import given
from hypothesis import strategies as st

from shared.csv_cells import escape_formula, unescape_formula

SIGNS = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"


@given(st.one_of(st.text(), st.text(st.sampled_from(SIGNS + "'a1"), max_size=6)))
def test_every_text_survives_and_no_cell_begins_like_a_formula(text: str) -> None:
    cell = escape_formula(text)
    assert cell[:1] not in SIGNS or not cell
    assert unescape_formula(cell) == text


def test_other_texts_stay_as_they_are() -> None:
    for text in ("", "Mug", "'s Gravenhage", "'", "12", "a=b"):
        assert escape_formula(text) == text
        assert unescape_formula(text) == text
