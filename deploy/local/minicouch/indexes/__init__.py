"""Indexes of a database: brought up to date with its changes, scanned and asked for _find and search."""
