"""What holds for accounts whatever the storage: pure functions."""
