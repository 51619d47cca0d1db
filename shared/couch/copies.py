"""Copies of dataclasses with other values in some fields, for what is copied several times a request."""

from typing import Any, TypeVar

T = TypeVar("T")


def altered(value: T, **changes: Any) -> T:
    """As `dataclasses.replace`, at a tenth of its price: for one without slots, `__post_init__` and cached properties.

    Raises TypeError for a field that it does not have.
    """
    before = vars(value)
    members = before.copy()
    members.update(changes)
    if len(members) != len(before):
        raise TypeError(f"{type(value).__name__} has no {', '.join(sorted(changes.keys() - before.keys()))}")
    copy = object.__new__(type(value))
    object.__setattr__(copy, "__dict__", members)
    return copy
