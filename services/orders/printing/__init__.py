"""Documents set on pages as PDF/A, by Typst in a process of its own: what it needs of memory is free again with it."""

from services.orders.printing.process import Printer

__all__ = ["Printer"]
