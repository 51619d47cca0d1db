"""Every field the orders service accepts and answers."""
