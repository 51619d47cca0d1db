"""Every field that a request may carry and an answer shows."""
