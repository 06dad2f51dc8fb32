"""Walks on a line."""
