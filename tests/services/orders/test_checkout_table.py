"""The checkout's table is whole and true: every step is known, every state is reached, every way leads to an end, and steps end as their rows say."""

import ast
import inspect
from collections.abc import Callable

import pytest

from services.orders.actions import checkout
from services.orders.actions.checkout import STEPS
from services.orders.rules.checkout import CHECKOUT, ENDS, ENTRIES, Row, State, next_state


def reached_from(start: State) -> set[State]:
    seen, waiting = {start}, [start]
    while waiting:
        state = waiting.pop()
        following = set(CHECKOUT[state].outcomes.values()) - seen if state in CHECKOUT else set()
        seen |= following
        waiting += following
    return seen


def test_each_step_is_in_one_row_and_has_its_function():
    assert sorted(row.step for row in CHECKOUT.values()) == sorted(STEPS)


def test_every_state_is_reached_by_a_request():
    assert reached_from(ENTRIES["request"]) == set(State)


@pytest.mark.parametrize("state", list(CHECKOUT))
def test_every_way_leads_to_an_end(state: State):
    assert reached_from(state) & ENDS


def test_neither_webhook_nor_sweep_ever_charges():
    for worker in ("webhook", "sweep"):
        steps = {CHECKOUT[state].step for state in reached_from(ENTRIES[worker]) - ENDS}
        assert not steps & {"charge", "reserve", "place"}


def test_an_outcome_that_the_table_does_not_know_is_an_error():
    with pytest.raises(KeyError):
        next_state(State.PLACED, "charged")


@pytest.mark.parametrize("row", CHECKOUT.values(), ids=lambda row: row.step)
def test_a_row_has_the_outcomes_that_its_step_returns(row: Row):
    assert returned_by(STEPS[row.step]) == set(row.outcomes)


def returned_by(step: Callable[..., str]) -> set[str]:
    """The outcomes in a step's `return` statements, and in those of a function that it returns the call of."""
    outcomes = set[str]()
    for statement in ast.walk(ast.parse(inspect.getsource(step))):
        if isinstance(statement, ast.Return) and isinstance(statement.value, ast.Call):
            outcomes |= returned_by(getattr(checkout, statement.value.func.id))
        elif isinstance(statement, ast.Return):
            values = statement.value
            choices = [values.body, values.orelse] if isinstance(values, ast.IfExp) else [values]
            outcomes |= {each.value for each in choices}
    return outcomes
