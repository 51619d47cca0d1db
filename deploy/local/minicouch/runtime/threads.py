"""Blocking work beside the event loop."""

import asyncio
from collections.abc import Callable
from typing import Any


async def run_in_thread(function: Callable[..., Any], *args: Any) -> Any:
    """Run long, blocking work beside the event loop."""
    return await asyncio.get_running_loop().run_in_executor(None, function, *args)
