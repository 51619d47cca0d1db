"""What a visitor sets in motion: one module per thing."""
