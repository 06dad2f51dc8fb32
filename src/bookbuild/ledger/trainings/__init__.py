"""Wrong trainings as the rows of the ledger see them."""
