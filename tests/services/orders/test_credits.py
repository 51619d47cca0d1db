"""The chain of a gift card, by itself: never below zero, once for each reference, and refunds that add up."""

from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.orders.declarations.credits import (
    CLOSED,
    GIFT_CARD,
    GIVEN_BACK,
    ISSUED,
    SPENT,
    STORE_CREDIT,
    CreditEntry,
)
from services.orders.rules.credits import (
    BalanceSpent,
    Chain,
    Change,
    CreditKey,
    is_elsewhere,
    paid_by_credits,
    refund_parts,
    settled,
    split,
    with_store_credit,
)
from services.orders.rules.gift_cards import card_id, code_of, is_well_formed, new_code, normalized
from services.orders.rules.promotion_uses import Standing
from shared.money import money

KEY = CreditKey(GIFT_CARD, "c" * 40, "GBP")
ABOUT = {
    "currency": "GBP",
    "name": "Gift card ending AAAA",
    "issued": "2026-11-22T12:00:00.000Z",
    "expires": "",
}


def chain_of(value: int) -> Chain:
    empty = Chain(KEY, [])
    return Chain(KEY, [[empty.following(Change(value, ISSUED, "issue", "user admin"), ABOUT)]])


def with_entry(chain: Chain, change: Change) -> Chain:
    return Chain(KEY, [*chain.slots, [chain.following(change)]])


@settings(deadline=None)
@given(st.integers(1, 10_000), st.lists(st.tuples(st.integers(1, 4_000), st.booleans()), max_size=30))
def test_a_balance_is_the_sum_of_its_entries_and_never_below_zero(
    value: int, spendings: list[tuple[int, bool]]
) -> None:
    chain, left = chain_of(value), value
    for number, (amount, comes_back) in enumerate(spendings):
        orderid = f"o{number}"
        try:
            chain = with_entry(chain, Change(-amount, SPENT, orderid, "guest", orderid=orderid))
        except BalanceSpent:
            assert amount > left
            chain = with_entry(chain, Change(0, CLOSED, orderid, "shop", orderid=orderid))
            assert chain.is_closed_for(orderid)
            continue
        left -= amount
        assert chain.spent_by(orderid)
        if comes_back:
            chain = with_entry(chain, Change(amount, GIVEN_BACK, orderid, "shop", orderid=orderid))
            left += amount
            assert not chain.spent_by(orderid)
        assert chain.balance == left >= 0
    assert [entry["number"] for entry in chain.entries] == list(range(1, len(chain.entries) + 1))
    for number, entry in enumerate(chain.entries, 1):
        assert entry["balance"] == sum(each["delta"] for each in chain.entries[:number])


CREDITS = st.lists(st.tuples(st.sampled_from([GIFT_CARD, STORE_CREDIT]), st.integers(1, 5_000)), max_size=4)


@settings(deadline=None)
@given(
    CREDITS, st.integers(0, 10_000), st.lists(st.tuples(st.integers(1, 6_000), st.booleans()), max_size=12)
)
def test_refunds_go_to_the_credits_first_and_add_up(
    paid: list[tuple[str, int]], charged: int, refunds: list[tuple[int, bool]]
) -> None:
    credits = [
        {
            "kind": kind,
            "id": "u1" if kind == STORE_CREDIT else f"card{number}",
            "name": "",
            "amount": money(amount, "GBP"),
        }
        for number, (kind, amount) in enumerate(paid)
        if kind == GIFT_CARD
        or (STORE_CREDIT, amount) == next(each for each in paid if each[0] == STORE_CREDIT)
    ][:4]
    seen: set[tuple[str, str]] = set()
    credits = [
        each for each in credits if (key := (each["kind"], each["id"])) not in seen and not seen.add(key)
    ]
    whole, before, at_provider = paid_by_credits(credits) + charged, [], 0
    left = whole
    for wanted, to_store_credit in refunds:
        amount = min(wanted, left)
        if not amount:
            break
        parts = refund_parts(credits, whole - left, amount)
        rest = amount - paid_by_credits(parts)
        if to_store_credit and rest:
            parts, rest = with_store_credit(parts, "u1", money(rest, "GBP")), 0
        assert paid_by_credits(parts) + rest == amount
        assert len({(each["kind"], each["id"]) for each in parts}) == len(parts)
        before += parts
        at_provider += rest
        left -= amount
        assert at_provider <= charged
        assert rest == 0 or paid_by_credits(before) >= paid_by_credits(credits)
    for credit in credits:
        if credit["kind"] == GIFT_CARD:
            got = [each for each in before if each["id"] == credit["id"]]
            assert paid_by_credits(got) <= credit["amount"]["amount"]


@settings(deadline=None)
@given(st.integers(0, 10_000), st.lists(st.integers(0, 5_000), max_size=5))
def test_a_total_is_split_in_order(total: int, available: list[int]) -> None:
    parts = split(total, available)
    assert sum(parts) == min(total, sum(available))
    assert all(part <= has for part, has in zip(parts, available, strict=True))
    for number, part in enumerate(parts):
        assert part == available[number] or not any(parts[number + 1 :])


def test_codes_are_told_apart_from_their_hash_and_read_as_they_are_meant() -> None:
    codes = {new_code() for _ in range(200)}
    assert len(codes) == len({card_id(code) for code in codes}) == 200
    code = code_of("a secret", "order 1")
    assert code == code_of("a secret", "order 1") != code_of("another secret", "order 1")
    assert is_well_formed(normalized(code))
    assert len(code) == 19
    assert card_id(f" {code.lower().replace('-', ' ')} ") == card_id(code)
    assert card_id("O0IL" + code[4:]) == card_id("0011" + code[4:])
    assert code not in card_id(code)
    assert not is_well_formed("WITH-U-AND-TOO-SHORT")


def test_what_the_loser_of_a_number_did_is_not_done_twice() -> None:
    chain = chain_of(100)
    one = chain.following(Change(-60, SPENT, "one", "guest"))
    other = chain.following(Change(-30, SPENT, "other", "guest"))
    both = Chain(KEY, [*chain.slots, [one, other]])
    assert both.balance == 40
    stays, behind = settled([one, other], both, {})
    assert settled([other, one], both, {}) == (stays, behind)
    assert sorted([stays["reference"], *(leaf["reference"] for leaf in behind)]) == ["one", "other"]
    again = with_entry(
        Chain(KEY, [*chain.slots, [stays]]), Change(-30, SPENT, behind[0]["reference"], "guest")
    )
    assert is_elsewhere(behind[0], again)


def written_at_once(*changes: Change) -> tuple[list[CreditEntry], Chain]:
    """Changes that several writers made under number 2, and the chain with all of them; the first is the earliest."""
    chain = chain_of(100)
    leaves = [
        {**chain.following(change), "date": f"2026-11-23T12:00:0{n}.000Z"} for n, change in enumerate(changes)
    ]
    return cast(list[CreditEntry], leaves), Chain(KEY, [*chain.slots, cast(list[CreditEntry], leaves)])


def spending(orderid: str, amount: int = 100) -> Change:
    return Change(-amount, SPENT, orderid, "guest", orderid=orderid)


def test_a_card_that_a_paid_order_emptied_pays_no_other_that_wrote_beside_it() -> None:
    """The one that was refused died before it took its entry back; it asks again, and finds nothing left."""
    (refused, told), both = written_at_once(spending("died"), spending("told"))
    assert settled([refused, told], both, {"told": Standing.PAID, "died": Standing.OPEN}) == (told, [])


def test_of_two_open_orders_that_empty_a_card_the_earlier_has_it_and_both_have_what_covers_both() -> None:
    """Whoever settles it, and in whatever order the database names the revisions."""
    nobody = dict.fromkeys(("early", "late"), Standing.OPEN)
    (early, late), both = written_at_once(spending("early"), spending("late"))
    assert settled([late, early], both, nobody) == settled([early, late], both, nobody) == (early, [])
    (early, late), both = written_at_once(spending("early", 60), spending("late", 40))
    assert settled([late, early], both, nobody) == (early, [late])
    (early, late), both = written_at_once(spending("early", 60), spending("late", 41))
    assert settled([late, early], both, nobody) == (early, [])


def test_what_two_paid_orders_spent_is_owed_by_the_card() -> None:
    """Both were told that it is theirs: replicas met again. Only then less than nothing is left."""
    (early, late), both = written_at_once(spending("early"), spending("late"))
    assert settled([early, late], both, dict.fromkeys(("early", "late"), Standing.PAID)) == (early, [late])


def test_of_three_open_orders_those_stay_that_the_balance_covers() -> None:
    leaves, both = written_at_once(spending("a", 50), spending("b", 60), spending("c", 50))
    standing = dict.fromkeys(("a", "b", "c"), Standing.OPEN)
    assert settled(leaves, both, standing) == (leaves[0], [leaves[2]])


def test_what_an_order_spent_again_elsewhere_gives_way_to_who_has_it_nowhere_else() -> None:
    (refused, told), both = written_at_once(spending("died", 20), spending("told", 30))
    chain = with_entry(both, spending("died", 20))
    for standing in (Standing.PAID, Standing.OPEN):
        assert settled([refused, told], chain, {"died": standing, "told": standing}) == (told, [])


def test_an_order_that_was_sent_to_two_nodes_spends_once() -> None:
    (first, second), both = written_at_once(spending("twice", 20), spending("twice", 20))
    assert settled([second, first], both, {"twice": Standing.OPEN}) == (first, [])


@pytest.mark.parametrize("standing", list(Standing))
def test_of_spending_and_the_end_of_one_attempt_one_stays(standing: Standing) -> None:
    """Both would leave the card poorer for good: what is closed is never given back."""
    end = Change(0, CLOSED, "slow", "shop", orderid="slow")
    (closed, spent), both = written_at_once(end, spending("slow", 20))
    stays, behind = settled([closed, spent], both, {"slow": standing})
    assert (stays, behind) == (closed if standing is Standing.ENDED else spent, [])
