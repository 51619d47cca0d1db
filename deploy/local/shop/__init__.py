"""The sample shop: our own products, pictures and customers' orders, the same on every machine."""
