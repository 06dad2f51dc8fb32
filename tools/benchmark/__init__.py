"""What the fast methods cost: `make bench` measures them beside the dense ones, in one run."""
