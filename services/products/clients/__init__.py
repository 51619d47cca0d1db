"""The other services, as this one uses them."""
