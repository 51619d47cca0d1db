"""`python -m deploy.local up` runs the shop on this machine; `seed` loads the sample shop into it; `couch-url` prints
the address of its database, password included, for tools."""

import argparse
import asyncio
import fcntl
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from deploy.local.launcher import Launcher
from deploy.local.place import ADMIN_EMAIL, SERVICES, Place
from deploy.local.processes import table
from deploy.local.ready import busy
from deploy.local.redis_server import Missing
from deploy.local.settings import BadSettings, Settings
from deploy.local.shop.load import NotLoaded, load


class Refused(Exception):
    """Why the shop cannot start now, and what to do."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m deploy.local", description=__doc__)
    parser.add_argument("verb", choices=["up", "seed", "couch-url"])
    verb = parser.parse_args().verb
    try:
        place = Place(Settings.read())
        return {"up": _up, "seed": _seed, "couch-url": _couch_url}[verb](place)
    except (BadSettings, Missing, NotLoaded, Refused) as error:
        print(error, file=sys.stderr)
        return 1


def _up(place: Place) -> int:
    place.state.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _alone(place):
        new = not place.admin_password_file.exists()
        rows = table(place)
        ports = [row.port for row in rows if row.port]
        taken = {*busy(ports), *(port for port in ports if ports.count(port) > 1)}
        if names := [f"{row.port} ({row.name})" for row in rows if row.port in taken]:
            raise Refused(
                f"Busy: port {', '.join(names)}. Stop what listens there, or use other ports: "
                "`PORT=9000 make run` moves the shop's four, COUCH_PORT minicouch's."
            )
        environment = place.environment()
        return asyncio.run(_run(place, rows, environment, new))


async def _run(place: Place, rows: list, environment: dict[str, str], new: bool) -> int:
    return await Launcher(
        rows, environment, place.stamp, lambda: _banner(place, new), ("prepare", *SERVICES)
    ).run()


def _seed(place: Place) -> int:
    load(place.environment(), lambda line: print(line, flush=True))
    return 0


def _couch_url(place: Place) -> int:
    print(place.couch_url)
    return 0


@contextmanager
def _alone(place: Place) -> Iterator[None]:
    """Two launchers on one state folder would write into one database."""
    with (place.state / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused(f"Aisle runs already on {place.state}; stop it, or set AISLE_STATE.") from None
        yield


def _banner(place: Place, new: bool) -> None:
    print(f"\n  Aisle is ready: {place.url('storefront')}/")
    for name in SERVICES[1:]:
        print(f"    {name:<10} {place.url(name)}/docs")
    print(f"    {'admin':<10} {place.url('storefront')}/admin as {ADMIN_EMAIL}")
    if new:
        print(f"    {'password':<10} {place.admin_password_file.read_text().strip()}", end="  ")
        print(f"(shown once; kept in {place.admin_password_file})")
    print(f"    {'mail':<10} {place.url('storefront')}/mailbox\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
