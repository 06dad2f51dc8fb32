"""The minimal formulation of §3: its solutions, one layer trained on it, and finite streams."""
