"""A span around every job, below the request or job that asked for it."""

from contextlib import AbstractContextManager
from typing import Any

from celery import Task
from celery.signals import task_postrun, task_prerun

from shared.tracing import span, switch_on

_running: dict[str, tuple[AbstractContextManager[dict[str, Any]], dict[str, Any]]] = {}


def trace_jobs(endpoint: str) -> None:
    """Sends the worker's spans to the collector at `endpoint`; "" leaves tracing off."""
    if endpoint:
        switch_on("worker", endpoint)
        task_prerun.connect(_begin, weak=False)
        task_postrun.connect(_end, weak=False)


def _begin(task_id: str, task: Task, kwargs: dict[str, Any], **_: Any) -> None:
    caller = {"traceparent": task.request.get("traceparent") or ""}
    running = span(f"job {task.name}", "consumer", caller)
    attributes = running.__enter__()
    attributes["aisle.subject"] = str(kwargs.get("subject", ""))
    _running[task_id] = running, attributes


def _end(task_id: str, state: str | None = None, **_: Any) -> None:
    running, attributes = _running.pop(task_id)
    attributes["aisle.job.state"] = str(state)
    running.__exit__(None, None, None)
