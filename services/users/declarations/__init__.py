"""Fields of documents that have a page of their own."""
