"""Who asks and what that one may do: log-ins, tokens, users, what a path requires, what a write must pass."""
