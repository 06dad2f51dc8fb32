"""The full model for every N from some N0 on when any pair may be asked for."""

from .bounded import Law, covers, law, rest_from

__all__ = ["Law", "covers", "law", "rest_from"]
