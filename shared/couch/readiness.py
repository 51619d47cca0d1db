"""Whether a service may be asked: the server answers, and every index that the service asks is there and built."""

import time
from collections.abc import Callable, Iterable

from . import design as designs
from .client import Client
from .errors import NotPrepared
from .indexes import AccessPattern, DatabaseDesign
from .tally import counting

RECHECK_SECONDS = 5.0

NameOf = Callable[[DatabaseDesign], str]


class Readiness:
    """Call it: raises NotPrepared or DatabaseUnavailable while something is missing.

    While the search engine behind the server is away its indexes are not waited for. An index that has answered once counts as built for good. That all of them are still there is looked up again
    after `RECHECK_SECONDS`, and at once after a read that met a missing one.
    """

    def __init__(self, client: Client, name_of: NameOf, wanted: Iterable[DatabaseDesign]) -> None:
        self._client, self._name_of, self._designs = client, name_of, tuple(wanted)
        self._built: frozenset[tuple[str, str]] = frozenset()
        self._checked: tuple[float, int] | None = None

    def __call__(self) -> None:
        with counting():
            self._client.call("get_up_information")
            if not self._is_recent():
                self._checked = None
                not_prepared = self._client.not_prepared
                for design in self._designs:
                    self._check(design)
                self._checked = time.monotonic(), not_prepared

    def _is_recent(self) -> bool:
        if self._checked is None:
            return False
        moment, not_prepared = self._checked
        return time.monotonic() - moment < RECHECK_SECONDS and self._client.not_prepared == not_prepared

    def _check(self, design: DatabaseDesign) -> None:
        name = self._name_of(design)
        features = self._client.features()
        if missing := designs.missing(self._client, name, design, features):
            self._built = frozenset()
            raise NotPrepared(f"{name} lacks {', '.join(pattern.name for pattern in missing)}.")
        for pattern in designs.servable(design, features):
            self._require_built(name, pattern)

    def _require_built(self, name: str, pattern: AccessPattern) -> None:
        if (name, pattern.design_id) in self._built:
            return
        if not designs.is_usable(self._client, name, pattern):
            raise NotPrepared(f"{name}: {pattern.name} is still being built.")
        self._built |= {(name, pattern.design_id)}
