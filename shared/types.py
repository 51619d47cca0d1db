"""Types that every layer names."""

from typing import Any

Json = dict[str, Any]
"""A JSON object: what a service is asked, and what it answers."""
