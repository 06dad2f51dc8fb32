"""What the fast methods cost: `make record WHAT=benchmark` measures them beside the dense ones, in one run."""
