"""Requests and responses, path patterns, multipart and JSONP; nothing here knows ASGI."""
