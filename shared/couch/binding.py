"""A context variable's value for a block; a class, because every request enters several and a generator costs more."""

from contextvars import ContextVar, Token
from typing import Generic, TypeVar

T = TypeVar("T")


class Binding(Generic[T]):
    """`with Binding(variable, value) as value`: the value that the variable had before comes back afterwards."""

    __slots__ = ("_token", "_value", "_variable")

    def __init__(self, variable: ContextVar[T | None], value: T) -> None:
        self._variable, self._value = variable, value
        self._token: Token[T | None] | None = None

    def __enter__(self) -> T:
        self._token = self._variable.set(self._value)
        return self._value

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            self._variable.reset(self._token)
