"""Presets: the settings of an experiment and its number of seeds, in two profiles."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

Profile = Literal["smoke", "paper"]
PROFILES: tuple[str, ...] = get_args(Profile)


@dataclass(frozen=True)
class Preset:
    """The settings of an experiment of this book, and how many seeds are run with them.

    Args:
        settings: a frozen dataclass.
        n_seeds: the number of seeds, at least five wherever a curve or a time is judged.
    """

    settings: Any
    n_seeds: int = 5  # the least that shows a spread wherever a curve or a time is judged

    def seeds(self, first: int = 0) -> tuple[int, ...]:
        """The seeds, counted from `first`; ValueError if it is negative."""
        if first < 0:
            raise ValueError(f"a seed must not be negative, got {first}")
        return tuple(range(first, first + self.n_seeds))


def preset(*, paper: Any, smoke: Any) -> dict[str, Preset]:
    """The settings of an experiment in both profiles of this book.

    Args:
        paper: the sizes of the paper, run with five seeds.
        smoke: sizes that take seconds, run with two.

    Returns:
        A preset by the name of its profile.

    Example:
        >>> full, small = training.TokenTraining(), training.TokenTraining(dim=16)
        >>> both = presets.preset(paper=full, smoke=small)
        >>> both["smoke"].seeds()
        (0, 1)
    """
    return {"paper": Preset(paper), "smoke": Preset(smoke, 2)}


def choose(preset: Mapping[str, Preset], profile: str) -> Preset:
    """The preset of a profile; a chapter reads only here in which profile it runs.

    Args:
        preset: the presets by profile, as from `presets.preset`.
        profile: `smoke` or `paper`.

    Returns:
        The preset of this profile.

    Raises:
        ValueError: if the profile is unknown.

    Example:
        >>> full, small = training.TokenTraining(), training.TokenTraining(dim=16)
        >>> both = presets.preset(paper=full, smoke=small)
        >>> presets.choose(both, "paper").n_seeds
        5
    """
    if profile not in PROFILES:
        raise ValueError(f"profile must be one of {PROFILES}, got {profile!r}")
    return preset[profile]
