"""Faults planted one at a time, and the rows of the ledger that each of them turns."""
