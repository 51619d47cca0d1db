"""The sample shop in German: what its products and categories are called there."""

import tomllib
from functools import cache
from pathlib import Path

LANGUAGE = "de"
OPTION_NAMES = ("Size", "Colour")


@cache
def _texts() -> dict:
    return tomllib.loads((Path(__file__).parent / "german.toml").read_text(encoding="utf-8"))


def translation(brand: str, style: str, noun: str, closing: str, colours: list[str]) -> dict:
    """The style stands behind the noun: there it needs no ending."""
    texts = _texts()
    name, sentence = texts["nouns"][noun]
    labels = {text: texts["labels"][text] for text in (*OPTION_NAMES, *colours)}
    return {
        "name": f"{brand} {name} {texts['styles'][style]}",
        "description": f"{sentence} {texts['closings'][closing]}",
        "labels": labels,
    }


def categories(paths: list[list[str]]) -> list[dict]:
    """A line of the import for each category and all above it, with its label in German."""
    known = dict.fromkeys(tuple(path[:depth]) for path in paths for depth in range(1, len(path) + 1))
    labels = _texts()["categories"]
    return [
        {"path": "#".join(path), "translations": {LANGUAGE: {"label": labels[path[-1]]}}} for path in known
    ]
