"""Measurements: nothing here decides a test. `make bench` prints and writes the table."""
