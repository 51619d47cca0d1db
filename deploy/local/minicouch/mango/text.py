"""Mango over text indexes: which fields a selector needs of one."""

from typing import Any

from .selector import Node


def text_usability(definition: dict[str, Any], selector: Node) -> list[str]:
    """Why a text index cannot serve the selector; empty when it can."""
    return ["empty_selector"] if not selector else []


def text_member(definition: Any) -> dict[str, Any]:
    """What a text index looks like in its design document."""
    return {"index": definition, "analyzer": "keyword"}
