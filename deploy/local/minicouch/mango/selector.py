"""Selectors in normal form: operators explicit, field paths pushed to the leaves, negations pushed down.

A node is `(operator, argument)` or `(field, condition)`; the empty selector is `()`. A field is `("a.b",)`, its name
with escapes, or `()` for the value itself, which only an inner selector (`$elemMatch`) may test.
The steps and their order are those of mango_selector.erl, because `_explain` and error texts show the result.
"""

from typing import Any

from .errors import bad_arg, refusal
from .patterns import compile_pattern
from .terms import erlang

Node = tuple[Any, ...]
Field = tuple[str, ...]

_LISTS_OF_SELECTORS = {"$and", "$or", "$nor"}
_INNER_SELECTORS = {"$elemMatch", "$allMatch", "$keyMapMatch"}
_ANY_VALUE = {"$lt", "$lte", "$eq", "$ne", "$gte", "$gt"}
_UNSUPPORTED = {"$where", "$geoWithin", "$geoIntersects", "$near", "$nearSphere"}
_OPPOSITE = {
    "$lt": "$gte",
    "$lte": "$gt",
    "$eq": "$ne",
    "$ne": "$eq",
    "$gte": "$lt",
    "$gt": "$lte",
    "$in": "$nin",
    "$nin": "$in",
}


def normalize(selector: Any) -> Node:
    """The normal form. Errors: 400 naming the operator or field that is wrong."""
    if not isinstance(selector, dict):
        raise refusal("invalid_selector_json", f"Selector must be a JSON object, not: {erlang(selector)}")
    if not selector:
        return ()
    node = _negations(_fields(_operators(selector), ()))
    if node and node[0] == ():
        raise refusal("invalid_selector", "One or more conditions is missing a field name.")
    return node


def _operators(value: Any) -> Node:
    if not isinstance(value, dict) or not value:
        return ("$eq", value)
    if len(value) > 1:
        return ("$and", [_operators({name: part}) for name, part in value.items()])
    ((name, argument),) = value.items()
    if not name.startswith("$"):
        return (name, _operators(argument))
    return _operator(name, argument)


def _operator(name: str, argument: Any) -> Node:
    if name in _LISTS_OF_SELECTORS:
        if not isinstance(argument, list):
            raise bad_arg(name, argument)
        return (name, [_operators(part) for part in argument])
    if name == "$not" or name in _INNER_SELECTORS:
        if not isinstance(argument, dict):
            raise bad_arg(name, argument)
        return (name, _operators(argument))
    if name == "$text":
        if argument is None or isinstance(argument, list | dict):
            raise bad_arg(name, argument)
        return ("$default", {"$text": argument})
    if name == "$default" or name in _ANY_VALUE:
        return (name, argument)
    if name in _UNSUPPORTED:
        raise refusal("not_supported", f"Unsupported operator: {name}")
    if name not in _ARGUMENTS:
        raise refusal("invalid_operator", f"Invalid operator: {name}")
    if not _ARGUMENTS[name](argument):
        # CouchDB has no clause for a wrong $beginsWith or $regex argument that is not text: it calls them unknown.
        if name in ("$beginsWith", "$regex") and not isinstance(argument, str):
            raise refusal("invalid_operator", f"Invalid operator: {name}")
        raise bad_arg(name, argument)
    return (name, argument)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_ARGUMENTS = {
    "$in": lambda a: isinstance(a, list),
    "$nin": lambda a: isinstance(a, list),
    "$all": lambda a: isinstance(a, list),
    "$exists": lambda a: isinstance(a, bool),
    "$type": lambda a: isinstance(a, str),
    "$mod": lambda a: isinstance(a, list) and len(a) == 2 and all(map(_is_integer, a)),
    "$size": lambda a: _is_integer(a) and a >= 0,
    "$regex": lambda a: isinstance(a, str) and compile_pattern(a) is not None,
    "$beginsWith": lambda a: isinstance(a, str),
}


def _fields(node: Node, path: Field) -> Node:
    name, argument = node
    if name in _LISTS_OF_SELECTORS:
        return (name, [_fields(part, path) for part in argument])
    if name == "$not":
        return (name, _fields(argument, path))
    if name in _INNER_SELECTORS:
        return (path, (name, _fields(argument, ())))
    if name == "$default":
        if path or not (isinstance(argument, dict) and list(argument) == ["$text"]):
            raise refusal("bad_field", f"Invalid field normalization on selector: {erlang(node)}")
        return node
    if name.startswith("$"):
        return (path, node)
    return _fields(argument, (f"{path[0]}.{name}",) if path else (name,) if name else ())


def _negations(node: Node) -> Node:
    name, argument = node
    if name == "$not":
        return _negate(argument)
    if name == "$nor":
        return ("$and", [_negate(part) for part in argument])
    if name in ("$and", "$or"):
        return (name, [_negations(part) for part in argument])
    if name in _INNER_SELECTORS:
        return (name, _negations(argument))
    return node


def _negate(node: Node) -> Node:
    name, argument = node
    if name == "$not":
        return _negations(argument)
    if name == "$nor":
        return ("$or", [_negations(part) for part in argument])
    if name in ("$and", "$or"):
        return ("$or" if name == "$and" else "$and", [_negate(part) for part in argument])
    if name == "$default":
        raise bad_arg("$not", node)
    if name in _OPPOSITE:
        return (_OPPOSITE[name], argument)
    if name == "$exists":
        return (name, not argument)
    if isinstance(name, str):
        return ("$not", node)
    return (name, _negate(argument))


def to_json(node: Any) -> Any:
    """The normal form as JSON, field paths joined with dots."""
    if not isinstance(node, tuple):
        return (
            [to_json(part) if isinstance(part, tuple) else part for part in node]
            if isinstance(node, list)
            else node
        )
    return {_name(node[0]): to_json(node[1])} if node else {}


def _name(name: Field | str) -> str:
    return name if isinstance(name, str) else "".join(name)


def requires(node: Node, fields: list[str]) -> bool:
    """Does every matching document have all these fields?"""
    return not _missing([node], {(field,) for field in fields})


def _missing(nodes: list[Node], paths: set[Field]) -> set[Field]:
    for node in nodes:
        if not paths or not node:
            break
        name, argument = node
        if name == "$and":
            paths = _missing(argument, paths)
        elif name == "$or":
            paths = set().union(*(_missing([part], paths) for part in argument))
        elif argument != ("$exists", False):
            paths = paths - {name}
    return paths


def is_constant(node: Node, field: str) -> bool:
    """Is the field bound to one value by `$eq`?"""
    if not node:
        return False
    name, argument = node
    if name == "$and":
        return any(is_constant(part, field) for part in argument)
    return name == (field,) and argument[0] == "$eq"


def fields_of(node: Node) -> list[str]:
    """Every field that the selector names at its top levels."""
    if not node:
        return []
    name, argument = node
    if not isinstance(argument, list):
        return [_name(name)]
    return [field for part in argument for field in fields_of(part)]


def is_text_search(node: Any) -> bool:
    """Does it hold a `$text`? Only what CouchDB sees: through lists and conditions."""
    if not isinstance(node, tuple) or not node:
        return False
    name, argument = node
    if name == "$default":
        return True
    return any(map(is_text_search, argument)) if isinstance(argument, list) else is_text_search(argument)
