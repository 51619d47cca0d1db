"""Copies of all databases in files, and back: every leaf revision under its own number, attachments within."""
