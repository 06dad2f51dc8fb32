"""The full model for every N from some N0 on when any pair may be asked for."""

from .law import Law, law

__all__ = ["Law", "law"]
