"""Experiments of the paper's part and beyond: sizes in both profiles, and what is run with them."""
