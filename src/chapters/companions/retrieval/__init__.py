"""The retrieval problem: facts that form chains, and how many layers it takes to follow one."""

from .settings import PRESET

__all__ = ["PRESET"]
