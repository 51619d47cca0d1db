"""Addresses of several countries: their own forms and postcode rules, the label, and today's texts."""

import pytest

from shared.addresses import (
    PART_FIELDS,
    checked,
    country_names,
    envelope,
    form_of,
    parts_of_text,
    region_name,
)
from shared.errors import Invalid

BATH = {"line1": "1 High Street", "city": "Bath", "postcode": "ba1 1aa", "country": "GB"}


def test_a_country_has_its_own_form() -> None:
    britain, germany, states = form_of("GB"), form_of("DE"), form_of("US")
    assert britain is not None
    assert germany is not None
    assert states is not None
    assert britain.order == ("city", "postcode")
    assert germany.order == ("postcode", "city")
    assert states.order == ("city", "region", "postcode")
    assert (states.postcode_label, states.region_label) == ("ZIP code", "State")
    labels = [form.region_label for country in ("HK", "JM", "UA", "CA") if (form := form_of(country))]
    assert labels == ["Area", "Parish", "Oblast", "Province"]
    assert ("CA", "California") in states.regions
    assert form_of("XX") is None
    assert country_names()["BA"] == "Bosnia and Herzegovina"
    assert country_names()["GB"] == "United Kingdom"


def test_a_region_is_named_in_letters_that_readers_know() -> None:
    assert region_name("JP", "東京都") == "Tokyo"
    assert region_name("UA", "Вінницька область") == "Vinnyts'ka oblast"
    known = (("US", "NY"), ("ES", "A Coruña"), ("JP", ""), ("XX", "東京都"), ("JP", "нет"))
    assert all(region_name(*each) == each[1] for each in known)


def test_parts_are_kept_as_the_post_wants_them() -> None:
    assert checked(BATH)["postcode"] == "BA1 1AA"
    states = BATH | {"postcode": "92101", "country": "US", "region": "california"}
    assert checked(states)["region"] == "CA"


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"postcode": "28195"}, "postcode"),
        ({"postcode": ""}, "postcode"),
        ({"city": ""}, "city"),
        ({"line1": ""}, "line1"),
        ({"country": "XX"}, "country"),
        ({"country": ""}, "country"),
        ({"country": "US", "postcode": "92101"}, "region"),
        ({"country": "US", "postcode": "92101", "region": "Bavaria"}, "region"),
        ({"country": "DE"}, "postcode"),
    ],
)
def test_what_a_country_does_not_know_is_refused(wrong: dict[str, str], field: str) -> None:
    with pytest.raises(Invalid) as refused:
        checked(BATH | wrong)
    assert field in refused.value.errors


def test_a_label_is_written_as_its_country_does() -> None:
    bath, bremen = checked(BATH), checked(BATH | {"postcode": "28195", "city": "Bremen", "country": "DE"})
    assert envelope("Ada", bath, "GB") == ["Ada", "1 High Street", "Bath", "BA1 1AA"]
    assert envelope("Ada", bremen, "GB") == ["Ada", "1 High Street", "28195 Bremen", "Germany"]
    states = checked(BATH | {"city": "San Diego", "postcode": "92101", "country": "US", "region": "CA"})
    assert envelope("", states)[1:] == ["San Diego, CA 92101", "United States"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("1 Mill Lane\nYork YO1 7PR", {"line1": "1 Mill Lane", "city": "York", "postcode": "YO1 7PR"}),
        ("1 Mill Lane\nYork\nYO1 7PR", {"line1": "1 Mill Lane", "city": "York", "postcode": "YO1 7PR"}),
        ("Am Markt 1\n28195 Bremen", {"line1": "Am Markt 1", "city": "Bremen", "postcode": "28195"}),
        ("1 Mill Lane, York, YO1 7PR", {"line1": "1 Mill Lane", "city": "York", "postcode": "YO1 7PR"}),
        ("Flat 2\n1 Mill Lane\nYork", {"line1": "Flat 2", "line2": "1 Mill Lane", "city": "York"}),
        ("The lighthouse", {"line1": "The lighthouse"}),
        ("", {}),
    ],
)
def test_a_text_is_taken_apart(text: str, parts: dict[str, str]) -> None:
    assert parts_of_text(text) == parts


@pytest.mark.parametrize(
    "phone", ["(020) 7946 0018", "(415) 555-0132 x12", "+44 20 7946 0018 ext. 12", "+442079460018"]
)
def test_phone_numbers_are_taken_as_people_write_them(phone: str) -> None:
    assert PART_FIELDS.check({"phone": phone})[1] == {}


def test_words_are_no_phone_number() -> None:
    assert "phone" in PART_FIELDS.check({"phone": "call me"})[1]
