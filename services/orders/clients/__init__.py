"""Whom the orders service talks to: users and products over HTTP, payment providers, couriers, the mail server."""
