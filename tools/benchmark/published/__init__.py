"""Two published programs run beside the book: python -m tools.benchmark.published."""
