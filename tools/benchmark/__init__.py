"""What the fast methods cost, measured beside the dense ones in one run: see `make record`."""
