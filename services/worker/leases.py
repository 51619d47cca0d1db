"""Who follows which shard: leases in Redis. Losing them is harmless, for a change handled twice is written once."""

import math
import secrets
import time
from typing import cast

from redis import Redis

LEASE_MILLISECONDS = 12_000
_FOLLOWERS = "followers"


class Leases:
    """One follower's share of the shards, renewed as it goes."""

    def __init__(self, redis: Redis, shards: int) -> None:
        self._redis, self._shards = redis, shards
        self.owner = secrets.token_hex(8)
        self._held: set[int] = set()

    def share(self) -> int:
        """How many shards each of the living followers should hold; counts this one as living."""
        now = time.time()
        self._redis.zadd(_FOLLOWERS, {self.owner: now})
        self._redis.zremrangebyscore(_FOLLOWERS, 0, now - LEASE_MILLISECONDS / 1000)
        followers = cast(int, self._redis.zcard(_FOLLOWERS))
        return math.ceil(self._shards / max(1, followers))

    def hold(self, shard: int) -> bool:
        """Takes or renews a shard, or releases it when others should have it. Whether this follower holds it now."""
        name, share = f"follower:{shard}", self.share()
        if shard in self._held and len(self._held) > share:
            self.release(shard)
            return False
        if shard not in self._held and len(self._held) >= share:
            return False
        taken = self._redis.set(name, self.owner, nx=True, px=LEASE_MILLISECONDS)
        held = bool(taken) or self._redis.get(name) == self.owner.encode()
        if held:
            self._redis.pexpire(name, LEASE_MILLISECONDS)
            self._held.add(shard)
        else:
            self._held.discard(shard)
        return held

    def release(self, shard: int) -> None:
        """Lets another follower have the shard at once."""
        self._held.discard(shard)
        if self._redis.get(f"follower:{shard}") == self.owner.encode():
            self._redis.delete(f"follower:{shard}")

    def close(self) -> None:
        """Releases everything: this follower ends."""
        for shard in list(self._held):
            self.release(shard)
        self._redis.zrem(_FOLLOWERS, self.owner)
