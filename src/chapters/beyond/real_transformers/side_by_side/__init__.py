"""Several transformers of §2 trained as one tensor program, each with its seed and rate."""
