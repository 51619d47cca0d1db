"""Replication: this server as the client of two others, once or for good, asked by _replicate or by a document."""

from .job import Job, Request, replication_id
from .peer import PeerError
from .scheduler import Scheduler

__all__ = ["Job", "PeerError", "Request", "Scheduler", "replication_id"]
