"""What the products database holds: every field once, with what may be in it. `services.products.documents` says where it lies."""
