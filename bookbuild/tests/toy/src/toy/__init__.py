"""A stand-in for the science package."""
