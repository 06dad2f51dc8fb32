"""Experiments that several chapters share: open settings, captions, steps until emergence."""
