"""Ends of stored runs: states from which tests compute the last readings again."""
