"""Turns PromptCloud's Flipkart sample (`AISLE_DATA`, see the data's README) into import lines."""

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
DATA = Path(os.environ.get("AISLE_DATA", ROOT.parent / "shared" / "data"))
FILE = DATA / "flipkart_products.csv"


def lines(file: Path = FILE) -> Iterator[dict[str, Any]]:
    """One import line for each row; a row without a price has none here either."""
    with file.open(encoding="utf-8", newline="") as text:
        for row in csv.DictReader(text):
            yield line(row)


def line(row: dict[str, str]) -> dict[str, Any]:
    """The last level of the category tree is often the product itself: it is kept only where it is the only one."""
    levels = [level.strip() for level in json.loads(row["product_category_tree"])[0].split(" >> ")]
    name = row["product_name"].strip()
    taxonomy = levels[:-1] if len(levels) > 1 and _is_product(levels[-1], name) else levels
    pictures = json.loads(row["image"]) if row["image"].startswith("[") else []
    found = {
        "productid": row["pid"],
        "taxonomy": taxonomy,
        "keywords": [],
        "brand": row["brand"].strip(),
        "name": name,
        "description": row["description"].strip(),
        "colours": [],
        "delivery": {"amount": 0, "currency": "INR"},
        "image": pictures[0] if pictures else "",
        "stock": 10,
    }
    if row["discounted_price"]:
        found["price"] = {"amount": int(row["discounted_price"]) * 100, "currency": "INR"}
    return found


def _is_product(level: str, name: str) -> bool:
    return name.startswith(level.removesuffix("...").strip()) or level.startswith(name)
