"""What an order may do and what it costs: pure functions over documents."""
