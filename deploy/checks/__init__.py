"""Checks of what is deployed, without deploying it: lock files, manifests, compose, image."""
