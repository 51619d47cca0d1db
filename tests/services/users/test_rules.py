"""Rules that need no service: what looks like a card number."""

import pytest

from services.users.rules.card_numbers import looks_like_card_number

CARD = "4000 0566 5566 5556"


@pytest.mark.parametrize("before", ["", "12 2026 ", "01 2030 ", "20261121 ", "1 2 3 4 5 6 7 8 9 0 1 2 "])
@pytest.mark.parametrize("behind", ["", " 12 2026", " 123", " 9 8 7 6 5 4 3 2 1 0"])
@pytest.mark.parametrize("card", [CARD, CARD.replace(" ", "-"), CARD.replace(" ", "")])
def test_a_card_number_is_seen_among_other_numbers(before: str, card: str, behind: str) -> None:
    assert looks_like_card_number(f"{before}{card}{behind}")


@pytest.mark.parametrize("text", ["Visa ending 4242", "pm_1N4242", "4000 0566 5566", "2026-11-21", ""])
def test_other_numbers_are_none(text: str) -> None:
    assert not looks_like_card_number(text)
