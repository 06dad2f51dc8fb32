"""Execution of chapters, each in a process of its own, and completion of stored runs."""
