"""Faults planted one at a time, and the rows of the ledger that they turn: make sabotage."""
