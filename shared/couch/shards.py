"""Where CouchDB keeps a partition: in the shard in whose range the crc32 of its key is. No I/O."""

import zlib
from collections.abc import Iterable
from itertools import count


def partition_of_each(ranges: Iterable[str]) -> tuple[str, ...]:
    """For each range as `_shards` names it (`80000000-ffffffff`) a key whose partition is in that shard."""
    return tuple(_partition_in(*(int(end, 16) for end in each.split("-"))) for each in ranges)


def _partition_in(first: int, last: int) -> str:
    keys = (f"warm{n}" for n in count())
    return next(key for key in keys if first <= zlib.crc32(key.encode()) <= last)
