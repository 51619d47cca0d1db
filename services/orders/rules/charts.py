"""Bar charts as SVG text, drawn by ourselves: readable by eye, by screen readers, and without scripts."""

import re
from dataclasses import dataclass
from html import escape as escape_html

_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_WIDTH, _HEIGHT = 800, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 84, 12, 36, 48
_LABELS = 12


@dataclass(frozen=True)
class Bar:
    """One bar: its label on the axis, its height, and its tooltip."""

    label: str
    value: float
    tooltip: str


def bar_chart(title: str, bars: list[Bar]) -> str:
    """The chart as a complete SVG document."""
    plot_width, plot_height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    highest = max((bar.value for bar in bars), default=0) or 1
    step = plot_width / max(len(bars), 1)
    every = max(1, -(-len(bars) // _LABELS))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-labelledby="title" font-family="sans-serif" font-size="11">',
        f'<title id="title">{escape(title)}</title>',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="20" font-size="14" fill="#1c1c1c">{escape(title)}</text>',
        *_scale(highest, plot_height),
    ]
    for index, bar in enumerate(bars):
        parts += _bar(
            bar, _LEFT + index * step, step, plot_height * max(bar.value, 0) / highest, index % every == 0
        )
    if not bars:
        parts.append(f'<text x="{_LEFT + 12}" y="{_TOP + 24}" fill="#595959">Nothing in this span.</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def escape(text: str) -> str:
    """For XML, which knows no control characters however they are written."""
    return escape_html(_NOT_IN_XML.sub("", text))


def _scale(highest: float, plot_height: int) -> list[str]:
    lines = []
    for quarter in range(5):
        y = _TOP + plot_height * (4 - quarter) / 4
        lines.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#d9d9d9"/>'
        )
        lines.append(
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#595959">{highest * quarter / 4:,.0f}</text>'
        )
    return lines


def _bar(bar: Bar, x: float, step: float, height: float, labelled: bool) -> list[str]:
    base = _HEIGHT - _BOTTOM
    width = max(step * 0.8, 0.5)
    parts = [
        f'<rect x="{x + step * 0.1:.2f}" y="{base - height:.2f}" width="{width:.2f}" height="{height:.2f}" fill="#1f5f99"><title>{escape(bar.tooltip)}</title></rect>'
    ]
    if labelled:
        middle = x + step / 2
        parts.append(
            f'<text x="{middle:.1f}" y="{base + 14}" text-anchor="middle" fill="#595959">{escape(bar.label[:18])}</text>'
        )
    return parts
