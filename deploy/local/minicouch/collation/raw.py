"""Keys for views with `"collation": "raw"`: bytes whose order is Erlang's order of terms.

Numbers < false < null < true < objects < arrays < strings by their bytes. The shape is that of the usual keys:
an array is a tag, its elements and one closing byte.
"""

from typing import Any

from . import END, number_key

NUMBER, FALSE, NULL, TRUE, OBJECT, ARRAY, STRING = (bytes([tag]) for tag in range(2, 9))


def raw_key(value: Any) -> bytes:
    """Raises TypeError for what is no JSON value."""
    kind = type(value)
    if kind is str:
        return STRING + value.encode().replace(b"\0", b"\0\1") + b"\0\0"
    if kind is int or kind is float:
        return NUMBER + number_key(value)
    if kind is list:
        return ARRAY + b"".join(map(raw_key, value)) + END
    if kind is dict:
        return OBJECT + b"".join([raw_key(name) + raw_key(member) for name, member in value.items()]) + END
    if value is None:
        return NULL
    if kind is bool:
        return TRUE if value else FALSE
    raise TypeError(f"no JSON value: {kind.__name__}")
