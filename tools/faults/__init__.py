"""Faults on purpose, with real processes: what was tried, what was noticed, what was lost."""
