"""Constants of the emergence times, and rigorous bounds of them."""
