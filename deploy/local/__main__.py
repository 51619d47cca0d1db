"""`python -m deploy.local up` runs the shop on this machine; `seed` loads the sample shop into it; `couch-url` prints
the address of its database, password included, for tools."""

import argparse
import asyncio
import sys

from deploy.local.launcher import Launcher
from deploy.local.place import ADMIN_EMAIL, SERVICES, Place
from deploy.local.private import refuse_others
from deploy.local.processes import Process, table
from deploy.local.ready import busy
from deploy.local.redis_server import Missing
from deploy.local.settings import BadSettings, Settings
from deploy.local.state import Occupied, occupy_state


class Refused(Exception):
    """Why a verb cannot be done now, and what to do."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m deploy.local", description=__doc__)
    parser.add_argument("verb", choices=["up", "seed", "couch-url"])
    verb = parser.parse_args().verb
    refuse_others()
    try:
        return {"up": _up, "seed": _seed, "couch-url": _couch_url}[verb](Settings.read())
    except (BadSettings, Missing, Occupied, Refused) as error:
        print(error, file=sys.stderr)
        return 1


def _up(settings: Settings) -> int:
    with occupy_state(settings) as state:
        place = Place(settings, state)
        new = not place.admin_password_file.exists()
        rows = table(place)
        ports = [row.port for row in rows if row.port]
        taken = {*busy(ports), *(port for port in ports if ports.count(port) > 1)}
        if names := [f"{row.port} ({row.name})" for row in rows if row.port in taken]:
            raise Refused(
                f"Busy: port {', '.join(names)}. Stop what listens there, or use other ports: "
                "`PORT=9000 make run` moves them all, COUCH_PORT moves minicouch's alone."
            )
        return asyncio.run(_run(place, rows, new))


async def _run(place: Place, rows: list[Process], new: bool) -> int:
    launcher = Launcher(rows, place.environment(), place.stamp, lambda: _banner(place, new))
    return await launcher.run()


def _seed(settings: Settings) -> int:
    from deploy.local.shop.load import NotLoaded, load  # the launcher runs on without it

    try:
        load(Place(settings).environment(), lambda line: print(line, flush=True))
    except NotLoaded as error:
        raise Refused(str(error)) from None
    return 0


def _couch_url(settings: Settings) -> int:
    print(Place(settings).couch_url)
    return 0


def _banner(place: Place, new: bool) -> None:
    print(f"\n  Aisle is ready: {place.url('storefront')}/")
    for name in SERVICES[1:]:
        print(f"    {name:<10} {place.url(name)}/docs")
    print(f"    {'admin':<10} {place.url('storefront')}/admin as {ADMIN_EMAIL}")
    if new:
        print(f"    {'password':<10} {place.admin_password_file.read_text().strip()}", end="  ")
        print(f"(shown once; kept in {place.admin_password_file})")
    print(f"    {'mail':<10} {place.url('storefront')}/mailbox")
    print(f"    {'state':<10} {place.state}\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
