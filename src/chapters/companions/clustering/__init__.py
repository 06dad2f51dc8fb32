"""Clustering and alignment in modular addition with two-dimensional embeddings (2408.09414)."""
