"""The sample shop: our own goods, pictures and customers' orders, the same on every machine."""
