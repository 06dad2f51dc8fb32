"""Chapters as they are written, and the addresses that lead to them."""
