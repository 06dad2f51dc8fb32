"""Settings that are changed by name: where they go, and what is said of bad ones."""

import dataclasses
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest

from asserts import refused
from emergence.experiments import captions, silences
from emergence.presets import Preset, choose, preset, told_changes
from emergence.training import MinimalTraining, TokenTraining


class Size(NamedTuple):
    dim: int
    rate: float = 1.0


@dataclass(frozen=True)
class Experiment:
    training: MinimalTraining
    pairs: tuple[int, ...] = (2, 4)
    times: tuple[float, float] = (1.0, 2.0)
    windows: tuple[int | None, int | None] = (None, None)
    longest: int | None = None
    quick: bool = False
    title: str = "toy"
    runs: tuple[TokenTraining, ...] = ()
    sizes: dict[str, Any] = field(default_factory=dict)


RUN = MinimalTraining(2, 8, 16, 40, snapshots=(10, 20, 40))
NESTED = Experiment(RUN, runs=(TokenTraining(), TokenTraining(n_pairs=4)), sizes={"n_pairs": 2})
BOTH = preset(paper=NESTED, smoke=Experiment(RUN))


def changed(**changes):
    return choose(BOTH, "paper", changes)


def test_a_name_is_changed_wherever_it_stands_and_nothing_else():
    assert choose(BOTH, "smoke", {}) is choose(BOTH, "smoke", None) is BOTH["smoke"]
    found = changed(n_pairs=3, mask="strict", n_seeds=2)
    assert found.seeds() == (0, 1)
    assert found.settings == dataclasses.replace(
        NESTED,
        training=dataclasses.replace(RUN, n_pairs=3),
        runs=(TokenTraining(n_pairs=3, mask="strict"),) * 2,
        sizes={"n_pairs": 3},
    )


def test_tuples_and_mappings_of_settings_are_changed_part_by_part():
    whole = Preset(({"run": RUN, "rates": (1.0, 2.0), "none": None}, Size(4), [RUN, 5], 7))
    found = choose({"paper": whole}, "paper", {"dim": 6, "rates": [3], "none": 2}).settings
    six = dataclasses.replace(RUN, dim=6)
    assert found == ({"run": six, "rates": (3.0,), "none": 2}, Size(6), [six, 5], 7)
    assert type(found[0]["rates"][0]) is float


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [("learning_rate", 2, 2.0), ("pairs", [8, 16, 32], (8, 16, 32)),
     ("windows", [3, None], (3, None)), ("until_loss", 1, 1.0), ("longest", 5, 5),
     ("longest", None, None), ("quick", True, True),
     ("held", [["beta_2", 1]], (("beta_2", 1.0),)), ("title", "else", "else")],
)  # fmt: skip
def test_values_are_read_as_the_setting_has_them(name, given, expected):
    settings = changed(**{name: given}).settings
    found = getattr(settings if hasattr(settings, name) else settings.training, name)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.usefixtures("unchecked")
def test_an_unknown_name_is_told_with_those_that_there_are():
    refused(ValueError, "changes are values by name", choose, BOTH, "paper", "n_pairs=20")
    refused(ValueError, r"called 'pears'; there are .*n_pairs, n_seeds, ", changed, pears=2)
    for hidden in ("training", "runs", "settings"):
        refused(ValueError, "no setting is called", changed, **{hidden: 2})
    tuples = preset(paper=(64, 8), smoke=(16, 2))
    refused(ValueError, r"there are n_seeds$", choose, tuples, "smoke", {"settings": 3})


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [("n_pairs", True, "n_pairs should be a whole number, not True"),
     ("n_pairs", 2.0, "n_pairs should be a whole number, not 2.0"),
     ("n_pairs", None, "n_pairs should be a whole number, not None"),
     ("learning_rate", "fast", "learning_rate should be a finite number, not 'fast'"),
     ("learning_rate", True, "learning_rate should be a finite number, not True"),
     ("learning_rate", float("nan"), "learning_rate should be a finite number, not nan"),
     ("mask", "both", "mask should be 'strict' or 'causal', not 'both'"),
     ("quick", 1, "quick should be True or False, not 1"),
     ("title", 1, "title should be a text, not 1"),
     ("longest", "no", "longest should be a whole number or None, not 'no'"),
     ("pairs", 8, "pairs should be a list, each a whole number, not 8"),
     ("pairs", [8, "x"], "pairs should be a list, each a whole number, not"),
     ("times", [1, 2, 3], "times should be a list of 2: a finite number, a finite number, not"),
     ("n_seeds", 1.5, "n_seeds should be a whole number, not 1.5"),
     ("n_pairs", 0, "n_pairs should be at least 1, not 0"),
     ("dim", -2, "dim should be at least 1, not -2"),
     ("n_seeds", 0, "n_seeds should be at least 1, not 0"),
     ("learning_rate", -1, "learning_rate should be greater than 0, not -1"),
     ("learning_rate", 0, "learning_rate should be greater than 0, not 0"),
     ("weight_decay", -0.1, "weight_decay should be at least 0, not -0.1"),
     ("snapshots", [50], r".*with snapshots = \[50\] the settings do not fit: snapshot at step 50"),
     ("trained", ["delta"], ".*with trained = .* no pseudo-parameter is called 'delta'")],
)  # fmt: skip
def test_a_value_of_another_type_or_out_of_its_range_is_told(name, given, said):
    refused(ValueError, f"^(the setting )?{said}", changed, **{name: given})


def test_snapshots_keep_their_places_and_the_page_says_what_was_changed():
    assert changed(steps=80).settings.training.snapshots == (20, 40, 80)
    assert changed(steps=80, snapshots=[5]).settings.training.snapshots == (5,)
    assert told_changes(None) == told_changes({}) == ""
    told = told_changes({"n_pairs": 20, "learning_rate": 0.7})
    assert told.endswith("nothing on this page is judged: n_pairs = 20, learning_rate = 0.7.")


def test_silences_vary_what_was_changed():
    """Half the loss is half of any rate, and the mask that is left is the other one."""
    base = dataclasses.replace(RUN, learning_rate=0.7, mask="causal")
    assert silences.title(RUN, silences.MINIMAL) == "strict mask, from zero"
    assert silences.title(base, silences.MINIMAL) == "causal mask, from zero"
    odd = dataclasses.replace(base, initial_scale=0.3)
    assert silences.title(odd, silences.MINIMAL) == "causal mask, initial_scale = 0.3"
    found = silences.variations(base, silences.MINIMAL)
    other_start = [*silences.START.candidates][1]
    assert list(found) == ["base", "half the mean loss", "strict mask", other_start]
    assert found["half the mean loss"].learning_rate == pytest.approx(0.35)
    assert list(silences.variations(RUN, silences.MINIMAL))[2] == "causal mask"


@pytest.mark.parametrize(("rate", "of", "times"), [(0.35, 0.7, 2), (0.7, 0.7, 1), (3.0, 1.0, 1)])
def test_a_slower_training_is_longer_by_the_factor_of_its_rate(rate, of, times):
    found = captions.lengthened(dataclasses.replace(RUN, learning_rate=rate), of)
    assert (found.steps, found.snapshots[0]) == (times * 40, times * 10)
