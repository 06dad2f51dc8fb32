"""Notebooks as readers get them: published branch, plain prose, outputs of a chapter."""
