"""Every field the products service accepts and answers."""
