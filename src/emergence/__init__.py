"""The shared library: tasks, models, theory, training and measures of induction heads."""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

_PLACES = {
    "running": "running",
    "beyond": "chapters.beyond",
    "companions": "chapters.companions",
    "preset": "emergence.presets",
    "experiments.emergence_steps": "emergence.experiments.first_passage",
    "experiments.beyond": "chapters.beyond",
    "experiments.paper": "chapters.paper",
    "experiments.section_2": "chapters.paper.induction_heads",
    "experiments.token_grid": "chapters.beyond.real_transformers.token_grid",
    "proofs.appendix_a": "chapters.paper.appendix_a",
    "proofs.appendix_b": "chapters.paper.appendix_b",
    "proofs.beyond": "chapters.beyond",
    "proofs.minimal": "chapters.paper.minimal_formulation",
    "training.side_by_side": "chapters.beyond.real_transformers.side_by_side",
    "analysis.curves": "emergence.analysis",
    "theory.emergence": "emergence.theory",
    "theory.flow": "emergence.theory",
    "theory.reduced": "emergence.theory",
    "theory.full": "emergence.theory",
    "training.minimal": "emergence.training",
    "training.settings": "emergence.training",
    "training.transformer": "emergence.training",
}


class _Moved:
    """Says, for one release, where a module went that is imported by its old path."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, rest = name.partition(".")
        if package == "emergence" and rest in _PLACES:
            raise ImportError(f"{name} has moved to {_PLACES[rest]}.", name=name)
        return None


sys.meta_path.append(_Moved)
