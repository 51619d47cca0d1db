"""Secrets: password hashes, and the tokens that are signed with keys."""
