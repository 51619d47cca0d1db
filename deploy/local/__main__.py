"""`python -m deploy.local up` runs the shop on this machine; `seed` loads the sample shop into it, `pictures` its pictures; `couch-url` prints
the address of its database, password included, for tools."""

import argparse
import asyncio
import sys
from collections.abc import Callable, Mapping

from deploy.local.launcher import Launcher
from deploy.local.layout import ADMIN_EMAIL, SERVICES, Layout
from deploy.local.permissions import refuse_others
from deploy.local.processes import PICTURES, Process, table
from deploy.local.ready import busy
from deploy.local.redis_server import Missing
from deploy.local.settings import BadSettings, Settings
from deploy.local.state import Occupied, occupy_state


class Refused(Exception):
    """Why a verb cannot be done now, and what to do."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m deploy.local", description=__doc__)
    parser.add_argument("verb", choices=["up", "seed", "pictures", "couch-url"])
    verb = parser.parse_args().verb
    refuse_others()
    try:
        return {"up": _up, "seed": _seed, "pictures": _pictures, "couch-url": _couch_url}[verb](
            Settings.read()
        )
    except (BadSettings, Missing, Occupied, Refused) as error:
        print(error, file=sys.stderr)
        return 1


def _up(settings: Settings) -> int:
    with occupy_state(settings) as state:
        layout = Layout(settings, state)
        new = not layout.admin_password_file.exists()
        rows = table(layout)
        ports = [row.port for row in rows if row.port]
        taken = {*busy(ports), *(port for port in ports if ports.count(port) > 1)}
        if names := [f"{row.port} ({row.name})" for row in rows if row.port in taken]:
            raise Refused(
                f"Busy: port {', '.join(names)}. Stop what listens there, or use other ports: "
                "`PORT=9000 make run` moves them all, COUCH_PORT moves minicouch's alone."
            )
        return asyncio.run(_run(layout, rows, new))


async def _run(layout: Layout, rows: list[Process], new: bool) -> int:
    shown_when = [row.name for row in rows if row.name != PICTURES]
    launcher = Launcher(
        rows, layout.environment(), layout.stamp, lambda: _banner(layout, new), ready_when=shown_when
    )
    return await launcher.run()


def _seed(settings: Settings) -> int:
    from deploy.local.shop.load import NotLoaded, load  # the launcher runs on without it

    return _load(settings, load, NotLoaded)


def _pictures(settings: Settings) -> int:
    from deploy.local.shop.load import NotLoaded, load_pictures

    return _load(settings, load_pictures, NotLoaded)


def _load(
    settings: Settings,
    load: Callable[[Mapping[str, str], Callable[[str], None]], None],
    not_loaded: type[Exception],
) -> int:
    try:
        load(Layout(settings).environment(), lambda line: print(line, flush=True))
    except not_loaded as error:
        raise Refused(str(error)) from None
    return 0


def _couch_url(settings: Settings) -> int:
    print(Layout(settings).couch_url)
    return 0


def _banner(layout: Layout, new: bool) -> None:
    print(f"\n  Aisle is ready: {layout.url('storefront')}/")
    for name in SERVICES[1:]:
        print(f"    {name:<10} {layout.url(name)}/docs")
    print(f"    {'admin':<10} {layout.url('storefront')}/admin as {ADMIN_EMAIL}")
    if new:
        print(f"    {'password':<10} {layout.admin_password_file.read_text().strip()}", end="  ")
        print(f"(shown once; kept in {layout.admin_password_file})")
    print(f"    {'mail':<10} {layout.url('storefront')}/mailbox")
    print(f"    {'state':<10} {layout.state}\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
