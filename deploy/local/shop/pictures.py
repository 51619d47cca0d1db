"""Draws a product's picture: the shape of its category in its colour, on a quiet ground."""

import tomllib
from functools import cache
from pathlib import Path

BACKGROUNDS = (
    '<circle cx="200" cy="205" r="165"/>',
    '<rect x="45" y="50" width="310" height="310" rx="70"/>',
)


def draw(shape: str, colour: str, number: int) -> str:
    """An SVG of 400 x 400; `colour` is #rrggbb, `number` varies the ground."""
    light, dark, ground = _mixed(colour, 255, 0.45), _mixed(colour, 0, 0.28), _mixed(colour, 255, 0.80)
    drawing = _shapes()[shape].format(c=colour, l=light, d=dark)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400">'
        f'<rect width="400" height="400" fill="#faf8f4"/><g fill="{ground}">{BACKGROUNDS[number % len(BACKGROUNDS)]}</g>'
        f'<ellipse cx="200" cy="338" rx="110" ry="12" fill="{dark}" opacity=".18"/>{drawing}</svg>'
    )


@cache
def _shapes() -> dict[str, str]:
    return tomllib.loads((Path(__file__).parent / "shapes.toml").read_text())


def _mixed(colour: str, towards: int, share: float) -> str:
    """`colour` moved towards white (255) or black (0) by `share` of the way."""
    parts = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{round(part + (towards - part) * share):02x}" for part in parts)
