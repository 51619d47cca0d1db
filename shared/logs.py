"""JSON logs on standard output: one line per event, one per request, never an e-mail, address, token or card."""

import logging
import os
import re
import traceback
from typing import Any

import orjson

from shared.clock import timestamp
from shared.request_id import request_id

# Linear in the length of the text: what may be long is matched from its beginning only (the look-behinds), and once.
_PERSONAL = re.compile(
    r"(?P<userinfo>://[^\s/@]*+@)"
    r"|(?P<email>(?<![^\s@\"'<>,;=:/])[^\s@\"'<>,;=:/]++@[^\s@\"'<>,;]+\.[^\s@\"'<>,;]++)"
    r"|(?P<jwt>(?<![\w-])(?=[\w-]++\.[\w-]++\.)[\w-]*?eyJ[\w-]{8,}+\.[\w-]++\.[\w-]*+)"
    r"|(?P<auth>(?:Bearer|Basic|Service)\s++\S++)"
    r"|(?P<card>\b(?:\d[ -]?){13,19}\b)"
)

_IDS = ("orderid", "productid", "userid", "job", "subject")


def redact(text: str) -> str:
    """Replaces what looks like an e-mail, a token, credentials in a URL or a card number by its kind."""
    return _PERSONAL.sub(lambda match: f"[{match.lastgroup}]", text)


class JsonFormatter(logging.Formatter):
    """One redacted JSON object per record, with the ids given as `extra={"orderid": ...}`; a traceback is its frames, without their values."""

    def __init__(self, service: str) -> None:
        super().__init__()
        self.service = service

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": timestamp(),
            "level": record.levelname.lower(),
            "service": self.service,
            "logger": record.name,
            "message": redact(record.getMessage()),
        }
        if request_id():
            line["request_id"] = request_id()
        line |= {name: value for name in _IDS if (value := getattr(record, name, None))}
        if record.exc_info and record.exc_info[1]:
            line["error"] = redact(repr(record.exc_info[1]))
            frames = traceback.extract_tb(record.exc_info[2])
            line["trace"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        return orjson.dumps(line).decode()


def log_as_json(service: str, level: str = "INFO") -> None:
    """Sends the root logger to standard output as JSON lines (replacing what was set up before)."""
    handler = logging.StreamHandler(os.fdopen(os.dup(1), "w", buffering=1))
    handler.setFormatter(JsonFormatter(service))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    logging.getLogger("urllib3").setLevel(logging.ERROR)


def write_access_line(line: dict[str, Any]) -> None:
    """One request as one line in one system call: quick, and never interleaved between workers."""
    os.write(1, orjson.dumps(line) + b"\n")
