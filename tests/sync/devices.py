"""Devices for tests: PouchDB in Node, one process each."""

import json
import os
import select
import shutil
import subprocess
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
MODULES = Path(os.environ.get("SYNC_MODULES", HERE.parent.parent / ".venv/sync/node_modules"))
ANSWER_SECONDS = 90


def missing() -> str:
    """What is missing for a device to run; "" when nothing is."""
    if shutil.which("node") is None:
        return "Node is not installed (apt install nodejs npm)"
    return (
        "" if (MODULES / "pouchdb").exists() else f"PouchDB is not in {MODULES}: make test-sync installs it"
    )


class Device:
    """PouchDB with a database of its own in `folder`, told what to do."""

    def __init__(self, folder: Path, url: str, token: str) -> None:
        command = ["node", str(HERE / "device.js"), str(MODULES)]
        self._node = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.folder, self.url = folder, url
        self.log_in(token)

    def log_in(self, token: str) -> None:
        self.act("open", folder=str(self.folder), url=self.url, token=token)

    def act(self, name: str, **more: Any) -> Any:
        self.begin(name, **more)
        return self.end()

    def begin(self, name: str, **more: Any) -> None:
        assert self._node.stdin is not None
        self._node.stdin.write(json.dumps({"act": name, **more}).encode() + b"\n")
        self._node.stdin.flush()

    def end(self) -> Any:
        """What came of what was begun. Raises TimeoutError."""
        assert self._node.stdout is not None
        if not select.select([self._node.stdout], [], [], ANSWER_SECONDS)[0]:
            raise TimeoutError("the device does not answer")
        return json.loads(self._node.stdout.readline())

    def sync(self, **options: Any) -> dict[str, Any]:
        result: dict[str, Any] = self.act("sync", options=options)
        return result

    def keep(self, url: str) -> tuple[int, dict[str, dict[str, Any]]]:
        """Pulls a category into a database of its own: how many documents were written, and all that is there, by id."""
        done = self.act("keep", folder=str(self.folder) + "-" + url.rpartition("/")[2], url=url)
        assert done.get("ok"), done
        return done["written"], {doc["_id"]: doc for doc in done["docs"]}

    def put(self, docid: str, **content: Any) -> None:
        assert "failed" not in self.act("put", doc={"_id": docid, **content})

    def documents(self) -> dict[str, dict[str, Any]]:
        """All that is on the device, by id; `_conflicts` are listed where there are any."""
        return {doc["_id"]: doc for doc in self.act("all")}

    def close(self) -> None:
        assert self._node.stdin is not None
        self._node.stdin.close()
        self._node.wait(10)
