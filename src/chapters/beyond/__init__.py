"""Chapters beyond the paper: settings, experiments and executed proofs."""
