"""The products service's domain rules: pure functions, no I/O."""
