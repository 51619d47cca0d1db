"""How a customer group is named, and which the setting CUSTOMER_GROUPS may name: those by whose prices lists are sorted."""

import re
from collections.abc import Collection, Iterator
from typing import Final

GROUP: Final = "[a-z][a-z0-9_-]*"
GROUP_MESSAGE: Final = "Only small letters, digits, dash and underscore, a letter first."
MAX_PRICED_GROUPS: Final = 10
"""Each is one more row of a view, and one more number in each search index, for every product and currency."""


def problems_of_groups(groups: Collection[str]) -> Iterator[str]:
    """What is wrong with such a setting."""
    if wrong := [each for each in groups if not re.fullmatch(GROUP, each)]:
        yield f"CUSTOMER_GROUPS has {wrong[0]!r}, which is no customer group's name. {GROUP_MESSAGE}"
    if len(set(groups)) > MAX_PRICED_GROUPS:
        yield (
            f"CUSTOMER_GROUPS names {len(set(groups))} groups, and lists are sorted by the prices of {MAX_PRICED_GROUPS} at most: each is one "
            "more entry in the database's indexes for every product and currency. Name those whose members buy most."
        )
