"""The whole shop as `make run` starts it, on ports and in a folder of its own."""

import os
import signal
import subprocess
import sys
import time
from functools import cached_property
from pathlib import Path

from tests.processes import ROOT, answers, free_ports

STARTING_SECONDS = 240
SERVICES = ("storefront", "users", "products", "orders")


class Shop:
    """`python -m deploy.local up` in the background; `stop` is Ctrl-C."""

    def __init__(self, state: Path, **env: str) -> None:
        self.state, self.port = state, free_ports(len(SERVICES) + 1)
        self.log = state.parent / "shop.log"
        own = {
            "AISLE_STATE": str(state),
            "PORT": str(self.port),
            "COUCH_PORT": str(self.port + len(SERVICES)),
        }
        self._env = {**os.environ, **own, **env}
        self.prefix = env.get("DATABASE_PREFIX", "")

    def start(self) -> "Shop":
        self.launch()
        self.wait_for("Aisle is ready")
        return self

    def launch(self) -> "Shop":
        """Starts it and waits for nothing."""
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "deploy.local", "up"],
                cwd=ROOT,
                env=self._env,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return self

    def wait_for(self, words: str) -> None:
        """Until the launcher's output holds `words`. Raises RuntimeError with its end otherwise."""
        end = time.monotonic() + STARTING_SECONDS
        while words not in self.log.read_text(errors="replace"):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"no {words!r} in:\n{self.log.read_text(errors='replace')[-6000:]}")
            time.sleep(0.05)

    def stop(self) -> int:
        """Its exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)

    @cached_property
    def couch_url(self) -> str:
        command = [sys.executable, "-m", "deploy.local", "couch-url"]
        return subprocess.run(
            command, cwd=ROOT, env=self._env, capture_output=True, text=True, check=True
        ).stdout.strip()

    def url(self, service: str) -> str:
        return f"http://127.0.0.1:{self.port + SERVICES.index(service)}"

    def here(self, text: str) -> str:
        """A text of the README with this shop's ports and folder."""
        for place in range(4):
            text = text.replace(f"127.0.0.1:{8000 + place}", f"127.0.0.1:{self.port + place}")
        return text.replace(".local/", f"{self.state}/")

    def listens(self) -> bool:
        return any(answers(f"{self.url(name)}/health/live")() for name in SERVICES)
