"""Imported by the fork server: Babel reads what it knows of a language when a number or date is first written in it, 5 MiB of English for each
process. Read before they are forked, it is there once."""

from babel import Locale

ENGLISH = Locale.parse("en").number_symbols
