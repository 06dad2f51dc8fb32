"""The full model's flow for one N at a time, in validated steps through emergence and collapse."""

from .times import PRESET, Bounds, all_bounds, as_bounds, bounds

__all__ = ["PRESET", "Bounds", "all_bounds", "as_bounds", "bounds"]
