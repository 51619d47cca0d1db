"""The application: reads a request, finds its handler, writes the answer."""
