"""What people type as money: read in one way only, or refused with an example."""

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.storefront.rules import prices
from services.storefront.rules.attributes import parse_number, typed_number
from services.storefront.translation import FOLDER, read_languages
from shared.errors import Invalid
from shared.money import CURRENCIES, MINOR_UNITS, money
from shared.translation import language_active

GERMAN = read_languages(["de"], FOLDER)["de"]
AMOUNTS = st.integers(0, 10**12)
CURRENCY = st.sampled_from(sorted(CURRENCIES))
LIKE_MONEY = st.text(st.sampled_from("0123456789.,  '£-+eE_٣"), max_size=16)


@pytest.mark.parametrize(
    ("text", "currency", "amount"),
    [
        ("12.50", "GBP", 1250),
        (" 12.5 ", "GBP", 1250),
        ("£12.50", "GBP", 1250),
        ("1,250.00", "GBP", 125000),
        ("GBP 1,234,567.89", "GBP", 123456789),
        ("1250", "JPY", 1250),
        ("¥1,250", "JPY", 1250),
        ("12.345", "KWD", 12345),
        ("1,250.500", "KWD", 1250500),
    ],
)
def test_what_can_be_read_in_one_way_is_taken(text: str, currency: str, amount: int) -> None:
    assert prices.parse(text, currency) == money(amount, currency)


@pytest.mark.parametrize(
    ("text", "currency", "example"),
    [
        ("12,50", "GBP", "Write 12.50, without a comma."),
        ("1,5", "GBP", "Write 1.50, without a comma."),
        ("1,250", "GBP", "This can be read in two ways: write 1.25 or 1250.00."),
        ("1,250", "KWD", "This can be read in two ways: write 1.250 or 1250.000."),
        ("1.250,00", "GBP", "12.50"),
        ("1,250,000", "GBP", "12.50"),
        ("12.345", "GBP", "GBP has 2 decimal places: write a number such as 12.50."),
        ("12.50", "JPY", "JPY has no decimal places: write a number such as 1250."),
        ("1.250", "JPY", "1250"),
        ("€3", "GBP", "12.50"),
        ("-5", "GBP", "12.50"),
        ("1_000", "GBP", "12.50"),
        ("1e3", "GBP", "12.50"),
        ("1 250", "GBP", "12.50"),
        ("٣", "GBP", "12.50"),
        ("12.", "GBP", "12.50"),
        ("9" * 13, "GBP", "At most £10,000,000,000.00."),
        ("9" * 5000, "GBP", "12.50"),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused_with_an_example(
    text: str, currency: str, example: str
) -> None:
    with pytest.raises(Invalid) as caught:
        prices.parse(text, currency, "amount")
    assert example in caught.value.errors["amount"][0]


@given(AMOUNTS, CURRENCY)
def test_every_price_reads_as_it_is_shown_and_as_a_field_holds_it(amount: int, currency: str) -> None:
    value = money(amount, currency)
    assert prices.parse(prices.shown(value), currency) == value
    assert prices.parse(prices.plain(value), currency) == value


@given(LIKE_MONEY, CURRENCY)
def test_a_text_is_refused_or_means_what_its_point_says(text: str, currency: str) -> None:
    """However money is written, it is never a thousand or a hundred times what somebody may have meant."""
    digits = MINOR_UNITS.get(currency, 2)
    try:
        read = prices.parse(text, currency)
    except Invalid:
        return
    number = text.strip().removeprefix("£").strip()
    assert re.fullmatch("[0-9,]+(?:[.][0-9]+)?", number)
    assert Decimal(read["amount"]).scaleb(-digits) == Decimal(number.replace(",", ""))
    if "," in number:
        assert len(number.partition(".")[2]) == digits, "a comma that could be a decimal sign is refused"


@given(st.integers(0, 10**6), st.integers(0, 999), st.sampled_from(["GBP", "KWD"]))
def test_a_decimal_comma_is_never_taken(whole: int, fraction: int, currency: str) -> None:
    for text in (f"{whole},{fraction}", f"{whole},{fraction:02d}", f"{whole},{fraction:03d}"):
        with pytest.raises(Invalid):
            prices.parse(text, currency)


@pytest.mark.parametrize(
    ("text", "currency", "amount"),
    [
        ("12,50", "EUR", 1250),
        (" 12,5 ", "EUR", 1250),
        ("12,50 €", "EUR", 1250),
        ("€12,50", "EUR", 1250),
        ("EUR 12,50", "EUR", 1250),
        ("1.250,00", "EUR", 125000),
        ("1.234.567,89 €", "EUR", 123456789),
        ("1250", "EUR", 125000),
        ("12.50", "EUR", 1250),
        ("12.5", "EUR", 1250),
        ("1.250", "JPY", 1250),
        ("12,345", "KWD", 12345),
    ],
)
def test_a_decimal_comma_is_taken_where_the_language_writes_it(text: str, currency: str, amount: int) -> None:
    with language_active(GERMAN):
        assert prices.parse(text, currency) == money(amount, currency)


@pytest.mark.parametrize(
    ("text", "currency", "example"),
    [
        ("1.250", "EUR", "Das lässt sich auf zwei Arten lesen: Schreiben Sie 1,25 oder 1250,00."),
        ("1.250", "KWD", "Das lässt sich auf zwei Arten lesen: Schreiben Sie 1,250 oder 1250,000."),
        ("1.5000", "EUR", "Schreiben Sie 1,50, ohne Punkt."),
        ("1,250", "EUR", "12,50"),
        ("1,250.00", "EUR", "12,50"),
        ("1.250.000", "EUR", "12,50"),
        ("12,", "EUR", "12,50"),
        ("12,50", "JPY", "1250"),
        ("£12,50", "EUR", "12,50"),
        ("-5", "EUR", "12,50"),
    ],
)
def test_what_has_two_readings_in_german_is_refused_with_an_example(
    text: str, currency: str, example: str
) -> None:
    with language_active(GERMAN), pytest.raises(Invalid) as caught:
        prices.parse(text, currency, "amount")
    assert example in caught.value.errors["amount"][0]


@given(AMOUNTS, CURRENCY)
def test_every_price_reads_as_a_german_field_and_a_link_of_any_language_hold_it(
    amount: int, currency: str
) -> None:
    value = money(amount, currency)
    with language_active(GERMAN):
        assert prices.parse(prices.plain(value), currency) == value
        link = prices.in_address(value)
        assert prices.parse(link, currency) == value
    if MINOR_UNITS.get(currency, 2) < 3:
        assert prices.parse(link, currency) == value


@given(LIKE_MONEY, CURRENCY)
def test_a_german_text_is_refused_or_means_what_its_comma_says(text: str, currency: str) -> None:
    """Never a thousand or a hundred times what somebody may have meant."""
    digits = MINOR_UNITS.get(currency, 2)
    try:
        with language_active(GERMAN):
            read = prices.parse(text, currency)
    except Invalid:
        return
    number = text.strip().strip("£€").strip()
    assert re.fullmatch("[0-9.]+(?:,[0-9]+)?", number)
    if re.fullmatch("[0-9]+[.][0-9]{1,2}", number):
        meant = Decimal(number)
    else:
        meant = Decimal(number.replace(".", "").replace(",", "."))
        if "." in number:
            assert len(number.partition(",")[2]) == digits, "a point that could be a decimal sign is refused"
    assert Decimal(read["amount"]).scaleb(-digits) == meant


@given(LIKE_MONEY, CURRENCY)
def test_no_text_has_two_readings_in_two_languages_that_are_off_by_a_hundred(
    text: str, currency: str
) -> None:
    """What both languages take is the same amount, but for a mark that is decimal in one and of thousands in the other."""
    found = []
    for language in (GERMAN, None):
        try:
            if language is None:
                found.append(prices.parse(text, currency))
            else:
                with language_active(language):
                    found.append(prices.parse(text, currency))
        except Invalid:
            return
    if MINOR_UNITS.get(currency, 2) == 2:
        assert found[0] == found[1]


@given(st.one_of(st.integers(-(10**9), 10**9), st.decimals(-(10**6), 10**6, places=3).map(float)))
def test_a_number_of_an_attribute_reads_as_its_field_holds_it(number: float) -> None:
    assert parse_number(typed_number(number)) == number
    with language_active(GERMAN):
        assert parse_number(typed_number(number)) == number
        assert "." not in typed_number(number)


def test_a_number_with_the_sign_of_another_language_is_refused() -> None:
    for text in ("1.5", "1.250", "1.250,5"):
        with language_active(GERMAN), pytest.raises(ValueError, match="is no number"):
            parse_number(text)
    with pytest.raises(ValueError, match="is no number"):
        parse_number("1,5")
