"""JSON as clients send it, with whole numbers of any length, and as Erlang prints it."""
