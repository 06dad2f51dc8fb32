"""The geometry of grokking (arXiv 2511.01938): norm minimisation on the zero-loss manifold."""

from .settings import PRESET, Direction, RealTraining, Settings, Simulation, Toys

__all__ = ["PRESET", "Direction", "RealTraining", "Settings", "Simulation", "Toys"]
