"""A normalised selector compiled to a predicate over documents."""

from collections.abc import Callable
from typing import Any

from ..collation import sort_key
from .errors import refusal
from .fields import BAD_PATH, NOT_FOUND, get_field, parse_field
from .patterns import searcher
from .selector import Field, Node, normalize

Predicate = Callable[[Any], bool]
Key = Callable[[Any], bytes]


def matcher(selector: dict[str, Any]) -> Predicate:
    """A predicate for a selector as clients write it. Errors: 400 as `_find` gives them."""
    return compile_node(normalize(selector))


def _raw_key(value: Any) -> bytes:
    """Erlang's order of terms for what an `_id` may be compared with: text by code points, above all other types."""
    return b"\x01" + value.encode() if type(value) is str else b"\x00"


def compile_node(node: Node, key: Key = sort_key) -> Predicate:
    """The predicate of a node of the normal form; it takes a document, or below `$elemMatch` any value."""
    if not node:
        return lambda value: True
    name, argument = node
    if isinstance(name, tuple):
        return _field(name, argument, _raw_key if name == ("_id",) else key)
    if name in _COMPARISONS:
        return _COMPARISONS[name](argument, key)
    if name in _COMBINATIONS:
        return _COMBINATIONS[name](argument, key)
    return _OPERATORS[name](argument)


def _field(field: Field, condition: Node, key: Key) -> Predicate:
    path = parse_field(field[0]) if field else ()
    if condition == ("$exists", False):
        return lambda value: get_field(value, path) is NOT_FOUND
    test = compile_node(condition, key)
    if not path:
        return test
    if len(path) == 1:
        (name,) = path

        def member(value: Any) -> bool:
            if type(value) is dict:
                return name in value and test(value[name])
            found = get_field(value, path)
            return found is not NOT_FOUND and found is not BAD_PATH and test(found)

        return member

    def nested(value: Any) -> bool:
        found = get_field(value, path)
        return found is not NOT_FOUND and found is not BAD_PATH and test(found)

    return nested


def _and(nodes: list[Node], key: Key) -> Predicate:
    tests = [compile_node(node, key) for node in nodes]
    return lambda value: all(test(value) for test in tests)


def _or(nodes: list[Node], key: Key) -> Predicate:
    if not nodes:
        return lambda value: True
    tests = [compile_node(node, key) for node in nodes]
    return lambda value: any(test(value) for test in tests)


def _not(node: Node, key: Key) -> Predicate:
    test = compile_node(node, key)
    return lambda value: not test(value)


def _all(wanted: list[Any]) -> Predicate:
    def test(values: Any) -> bool:
        if type(values) is not list or not wanted:
            return False
        if all(any(_identical(value, item) for value in values) for item in wanted):
            return True
        return len(wanted) == 1 and type(wanted[0]) is list and _identical(wanted[0], values)

    return test


def _identical(left: Any, right: Any) -> bool:
    """Equal without collation, as Erlang's `==`: numbers by value, strings by code points, members in order."""
    if type(left) is list:
        return type(right) is list and len(left) == len(right) and all(map(_identical, left, right))
    if type(left) is dict:
        return (
            type(right) is dict
            and list(left) == list(right)
            and all(_identical(left[name], right[name]) for name in left)
        )
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return left == right


def _elem_match(node: Node, key: Key) -> Predicate:
    test = compile_node(node, key)
    return lambda values: type(values) is list and any(map(test, values))


def _all_match(node: Node, key: Key) -> Predicate:
    test = compile_node(node, key)
    return lambda values: type(values) is list and bool(values) and all(map(test, values))


def _key_map_match(node: Node, key: Key) -> Predicate:
    test = compile_node(node, key)
    return lambda value: type(value) is dict and any(map(test, value))


def _equal(wanted: Any, key: Key) -> Predicate:
    wanted_key, kind = key(wanted), type(wanted)
    if kind is str:
        return lambda value: type(value) is str and (value == wanted or key(value) == wanted_key)
    return lambda value: key(value) == wanted_key


def _in(wanted: list[Any], key: Key) -> Predicate:
    keys = {key(item) for item in wanted}
    return lambda value: (
        any(key(item) in keys for item in value) if type(value) is list else key(value) in keys
    )


def _compared(decide: Callable[[bytes, bytes], bool]) -> Callable[[Any, Key], Predicate]:
    def build(bound: Any, key: Key) -> Predicate:
        bound_key = key(bound)
        return lambda value: decide(key(value), bound_key)

    return build


def _type(name: str) -> Predicate:
    return lambda value: _type_name(value) == name


def _type_name(value: Any) -> str:
    if value is None:
        return "null"
    return {bool: "boolean", int: "number", float: "number", str: "string", dict: "object", list: "array"}[
        type(value)
    ]


def _mod(argument: list[int]) -> Predicate:
    divisor, remainder = argument

    def test(value: Any) -> bool:
        if type(value) is not int:
            return False
        if divisor == 0:
            raise refusal("unknown_error", "badarith", 500)
        result = abs(value) % abs(divisor)
        return (-result if value < 0 else result) == remainder

    return test


def _regex(pattern: str) -> Predicate:
    search = searcher(pattern)
    return lambda value: type(value) is str and search(value)


_COMBINATIONS: dict[str, Callable[[Any, Key], Predicate]] = {
    "$and": _and,
    "$or": _or,
    "$not": _not,
    "$elemMatch": _elem_match,
    "$allMatch": _all_match,
    "$keyMapMatch": _key_map_match,
}
_COMPARISONS: dict[str, Callable[[Any, Key], Predicate]] = {
    "$eq": _equal,
    "$ne": lambda wanted, key: _not(("$eq", wanted), key),
    "$in": _in,
    "$nin": lambda wanted, key: _not(("$in", wanted), key),
    "$lt": _compared(lambda value, bound: value < bound),
    "$lte": _compared(lambda value, bound: value <= bound),
    "$gte": _compared(lambda value, bound: value >= bound),
    "$gt": _compared(lambda value, bound: value > bound),
}
_OPERATORS: dict[str, Callable[[Any], Predicate]] = {
    "$all": _all,
    "$exists": lambda wanted: lambda value: wanted,
    "$type": _type,
    "$mod": _mod,
    "$size": lambda size: lambda value: type(value) is list and len(value) == size,
    "$regex": _regex,
    "$beginsWith": lambda prefix: lambda value: type(value) is str and value.startswith(prefix),
    "$default": lambda text: lambda value: True,
}
