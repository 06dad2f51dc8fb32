"""If you train models: which part of a loss at every position helps, in transformers on tokens."""
