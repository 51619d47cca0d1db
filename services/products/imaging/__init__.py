"""Uploaded pictures made fit for pages: decoded and written anew in a process of its own (`ImagingProcess`).

What comes in is a file of a stranger's making, so the process that decodes it has no secrets in its environment, a bounded
memory and a bounded time; a file that breaks it breaks nothing else. Services do not import Pillow, which only it needs.
"""

from services.products.imaging.errors import Busy, TooManyPixels, Unreadable
from services.products.imaging.names import FULL, NAMES, WIDTHS
from services.products.imaging.process import ImagingProcess, Rendered

__all__ = ["FULL", "NAMES", "WIDTHS", "Busy", "ImagingProcess", "Rendered", "TooManyPixels", "Unreadable"]
