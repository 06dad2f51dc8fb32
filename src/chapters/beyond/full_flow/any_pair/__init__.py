"""The full model for every N from some N0 on when any pair may be asked for."""

from .bounded import RangeLaw, covers, law, rest_from

__all__ = ["RangeLaw", "covers", "law", "rest_from"]
