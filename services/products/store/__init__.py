"""The products database, and what of it is cached in Redis: the only rooms that query, one method per access pattern."""
