"""The three functions a chapter calls."""

import dataclasses
import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from matplotlib import pyplot as plt

from bookbuild.reporting import notebook as module
from bookbuild.reporting.measures import read_measures
from bookbuild.reporting.notebook import check, report, show


@dataclasses.dataclass(frozen=True)
class Preset:
    n_pairs: int = 4


def measures(folder: Path) -> dict[str, dict[str, object]]:
    """What was reported, written as strict JSON."""
    text = (folder / "measures.json").read_text(encoding="utf-8")
    json.loads(text, parse_constant=pytest.fail)
    return read_measures(text)


@pytest.fixture
def glued(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The numbers that go into the prose."""
    result: dict[str, float] = {}
    monkeypatch.setattr(module, "_glue", result.__setitem__)
    return result


@pytest.mark.parametrize(
    ("key", "value", "over", "reason"),
    [
        ("x", float("nan"), None, r"not a number \(NaN\)"),
        ("x", "1", None, "not a number"),
        ("x", [2.0, 1.0], "interval", "low <= high"),
        ("x", [], "seeds", "no seeds"),
        ("x", 1.0, "runs", "over is"),
        ("x", {}, "settings", "maps at least one name"),
        ("x", {" ": 1.0}, "settings", "name of a setting is a text, not ' '"),
        ("x", {"B = 4": []}, "settings", "no seeds in the setting 'B = 4'"),
        ("x", {"B = 4": True, "B = 8": 1.0}, "settings", "truth value in some settings"),
        ("Loss", 1.0, None, "snake_case"),
    ],
)
def test_a_bad_measure_is_refused(
    output: Path, key: str, value: object, over: str | None, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        report(key, value, over=over)
    assert not (output / "measures.json").exists()


@pytest.mark.parametrize(
    ("value", "over", "stored", "numbers"),
    [
        (math.inf, None, math.inf, {"x": math.inf}),
        ([4.0, math.inf], "seeds", [4.0, math.inf],
         {"x": math.inf, "x_min": 4.0, "x_max": math.inf, "x_std": math.inf, "x_n": 2}),
        ((-math.inf, 1.0), "interval", [-math.inf, 1.0],
         {"x": -math.inf, "x_low": -math.inf, "x_high": 1.0}),
        ({"B = 64": np.float64(1), "B = 256": torch.tensor([2.0, math.inf]), "a": (0, 3)},
         "settings", {"B = 64": 1.0, "B = 256": [2.0, math.inf], "a": [0.0, 3.0]},
         {"x_settings": 3, "x_min": 0.0, "x_max": math.inf}),
        ({"one": True, "two": np.array([True, False])}, "settings",
         {"one": True, "two": [True, False]}, {"x_settings": 2}),
    ],
)  # fmt: skip
def test_a_measure_travels_as_strict_json_and_is_glued(
    output: Path, glued: dict[str, float], value: Any, over: Any, stored: Any, numbers: Any
) -> None:
    report("x", value, over=over)
    (read,) = measures(output).values()
    assert read == {"value": stored, "over": over, "judged": True}
    assert over != "settings" or list(read["value"]) == list(value)
    assert list(glued.items()) == list(numbers.items())
    with pytest.raises(ValueError, match="twice"):
        report("x", 2.0)
    assert measures(output)["x"] == read


def shell(monkeypatch: pytest.MonkeyPatch, profile: str) -> list[str]:
    """A notebook of this profile, and the HTML that it shows."""
    shown: list[str] = []
    fake = SimpleNamespace(user_ns={"profile": profile})
    monkeypatch.setattr("IPython.get_ipython", lambda: fake)
    monkeypatch.setattr("IPython.display.display", lambda html: shown.append(html.data))
    monkeypatch.setattr(module, "_glue", lambda *_: None)
    return shown


@pytest.mark.parametrize(
    ("value", "over", "bound", "told", "outcome"),
    [
        (0.5, None, {"at_most": 1}, ": 0.5, expected at most 1", "holds"),
        (0.5, None, {"at_least": 1}, ": 0.5, expected at least 1", "does not hold"),
        ([0.5, 2.0], "seeds", {"within": (0, 1)}, ": 1.25 (0.5 to 2, n = 2), expected 0 to 1",
         "holds in part"),
        ((0.0, 2.0), "interval", {"contains": 1}, ": 0 to 2, expected interval contains 1",
         "holds"),
        (True, None, {"holds": True}, "", "holds"),
        ({"x": True, "y": False}, "settings", {"holds": True}, ": 2 settings", "holds in part"),
    ],
)  # fmt: skip
def test_a_check_is_told_below_its_cell(
    output: Path, monkeypatch: pytest.MonkeyPatch, value: Any, over: Any, bound: Any, told: str,
    outcome: str,
) -> None:  # fmt: skip
    shown = shell(monkeypatch, "paper")
    check("a < b", value, over=over, **bound)
    report("a_given", value, over=over)
    check("a < b", "a_given", **bound)
    toy = shell(monkeypatch, "smoke")
    check("a < b", "a_given", **bound)
    kind, line = outcome.replace(" ", "-"), f"a &lt; b{told}"
    assert shown == [f'<p class="check {kind}">{line} ({outcome})</p>'] * 2
    assert toy == [f'<p class="check not-judged">{line} (not judged at toy sizes)</p>']
    result = measures(output)
    assert result["a_b"] == result["a_given"]
    assert result["a_b"]["judged"] is False
    kept = {form: list(b) if isinstance(b, tuple) else b for form, b in bound.items()}
    assert result["a_b"]["check"] == {"what": "a < b", **kept}


@pytest.mark.parametrize(
    ("what", "value", "bound", "reason"),
    [
        ("the loss", 1.0, {}, "needs one bound"),
        ("the loss", 1.0, {"holds": True}, "does not fit the measured value 1"),
        ("the loss", 1.0, {"contains": 1}, "needs a measured interval"),
        ("the loss", 1.0, {"within": (2, 1)}, "wrong way round"),
        ("the loss", 1.0, {"at_most": math.inf}, "is not finite"),
        ("the loss", "lost", {"at_most": 1}, "about 'lost', which was not reported"),
        ("the\nloss", 1.0, {"at_most": 1}, "says in words what it is about"),
        ("2 < 3", 1.0, {"at_most": 1}, "snake_case"),
    ],
)
def test_a_bad_check_is_refused(
    output: Path, what: str, value: Any, bound: Any, reason: str
) -> None:
    report("loss", 1.0)
    with pytest.raises(ValueError, match=reason):
        check(what, value, **bound)
    assert not any("check" in measure for measure in measures(output).values())


def test_a_figure_is_saved_closed_and_the_same_each_time_with_nine_digits_of_its_data(
    output: Path,
) -> None:
    made = []
    data = {"x": torch.tensor([1 / 3, float("inf")], dtype=torch.float64), "n": np.arange(2)}
    for _ in range(2):
        figure, axes = plt.subplots(figsize=(2, 1))
        axes.plot([0, 1], [0, 1])
        show(figure, "fig-1", data=data, preset=Preset(), seeds=[7])
        made.append((output / "figures" / "fig-1.svg").read_bytes())
    assert made[0] == made[1]
    assert b"<dc:date>" not in made[0]
    assert not plt.get_fignums()
    document = json.loads((output / "figures" / "fig-1.json").read_text(encoding="utf-8"))
    assert document["data"] == {"x": [0.333333333, None], "n": [0, 1]}
    origin = document["settings"]
    assert (origin["preset"], origin["preset_fields"]) == ("Preset", {"n_pairs": "4"})
    assert origin["seeds"] == [7]
    assert "numpy" in origin["versions"]
