"""The systems around the paper, one module or package a system, each with its own preset."""
