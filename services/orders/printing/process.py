"""The process that prints, as its parent uses it: one for each document, one at a time."""

import json
import logging
import os
import subprocess
import sys
import threading
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from shared.errors import Unavailable

ROOT: Final = Path(__file__).resolve().parents[3]
SECONDS: Final = 15.0
WAIT_SECONDS: Final = 10.0
log = logging.getLogger(__name__)


class Printer:
    """Safe to share between threads."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()

    def pdf(self, page: Mapping[str, Any], logo: bytes | None = None) -> bytes:
        """The document as PDF/A. Raises Unavailable when it takes too long, or others print and this one has waited long enough."""
        request = {"page": page, "logo": b64encode(logo).decode() if logo else None}
        if not self._lock.acquire(timeout=WAIT_SECONDS):
            raise Unavailable("Others print just now; try again.", retry_after=2)
        try:
            return self._printed(json.dumps(request).encode())
        finally:
            self._lock.release()

    def _printed(self, request: bytes) -> bytes:
        try:
            done = subprocess.run(
                [sys.executable, "-m", "services.orders.printing"],
                cwd=ROOT,
                env={
                    "PATH": os.defpath,
                    "PYTHONDONTWRITEBYTECODE": "1",
                    "TMPDIR": os.environ.get("TMPDIR", "/tmp"),
                },
                input=request,
                capture_output=True,
                timeout=self._seconds,
                check=True,
            )
        except subprocess.TimeoutExpired:
            raise Unavailable(
                "The document could not be printed in time; try again.", retry_after=5
            ) from None
        except subprocess.CalledProcessError as error:
            log.error("a document could not be printed: %s", error.stderr.decode(errors="replace")[-500:])
            raise Unavailable("The document could not be printed.", retry_after=60) from None
        return done.stdout
