"""Execution of chapters and of declared sweeps, each in a process of its own."""
