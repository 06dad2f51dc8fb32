"""The three functions a chapter calls, and the drawings that they fit to a page."""

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest
import torch
from matplotlib import pyplot as plt

from bookbuild.reporting import notebook as module
from bookbuild.reporting.drawing import NARROW, fit, stack
from bookbuild.reporting.measures import quotable, read_measures
from bookbuild.reporting.notebook import check, report, show


@dataclasses.dataclass(frozen=True)
class Preset:
    n_pairs: int = 4


def measures(folder):
    """What was reported, written as strict JSON."""
    text = (folder / "measures.json").read_text(encoding="utf-8")
    json.loads(text, parse_constant=pytest.fail)
    return read_measures(text)


class Shell:
    """A notebook: the names that its cells have set, and what it shows."""

    def __init__(self):
        self.user_ns: dict[str, Any] = {"profile": "paper"}
        self.shown: list[Any] = []
        self.about: list[dict[str, Any]] = []

    def display(self, data, *, metadata=None, raw=False):
        self.shown.append(data if raw else data.data)
        self.about.append((metadata or {}).get(module.ABOUT, {}))


@pytest.fixture
def shell(monkeypatch):
    """A notebook at the sizes of the paper."""
    fake = Shell()
    monkeypatch.setattr("IPython.get_ipython", lambda: fake)
    monkeypatch.setattr("IPython.display.display", fake.display)
    return fake


@pytest.mark.parametrize(
    ("value", "over", "stored", "numbers"),
    [
        (math.inf, None, math.inf, {"x": math.inf}),
        (np.float64(1.5), None, 1.5, {"x": 1.5}),
        (torch.tensor(2.0), None, 2.0, {"x": 2.0}),
        (np.bool_(True), None, True, {"x": True}),
        ([4.0, math.inf], "seeds", [4.0, math.inf],
         {"x": math.inf, "x_min": 4.0, "x_max": math.inf, "x_std": math.inf, "x_n": 2}),
        (torch.tensor([1.0, 3.0]), "seeds", [1.0, 3.0],
         {"x": 2.0, "x_min": 1.0, "x_max": 3.0, "x_std": math.sqrt(2), "x_n": 2}),
        ((-math.inf, 1.0), "interval", [-math.inf, 1.0],
         {"x": -math.inf, "x_low": -math.inf, "x_high": 1.0}),
        ({"B = 64": np.float64(1), "B = 256": torch.tensor([2.0, math.inf]), "a": (0, 3)},
         "settings", {"B = 64": 1.0, "B = 256": [2.0, math.inf], "a": [0.0, 3.0]},
         {"x_settings": 3, "x_min": 0.0, "x_max": math.inf}),
        ({"one": True, "two": np.array([True, False])}, "settings",
         {"one": True, "two": [True, False]}, {"x_settings": 2}),
    ],
)  # fmt: skip
def test_the_type_of_a_value_says_what_it_is_over_and_it_travels_as_strict_json(
    output, value, over, stored, numbers
):
    report(x=value)
    (read,) = measures(output).values()
    assert read == {"value": stored, "over": over}
    assert over != "settings" or list(read["value"]) == list(value)
    assert list(quotable("x", read["value"], over).items()) == list(numbers.items())
    with pytest.raises(ValueError, match="twice"):
        report(x=2.0)
    assert measures(output)["x"] == read


def table(*rows):
    """A table of these rows, the first of which has the heads."""
    head, *body = (f"<tr>{row}</tr>" for row in rows)
    return f'<table class="report"><thead>{head}</thead><tbody>{"".join(body)}</tbody></table>'


def heads(*names):
    return "".join(f"<th>{name}</th>" for name in names)


def fields(*texts):
    return "".join(f"<td>{text}</td>" for text in texts)


LEDGER = """\
- {id: slope-is-two, measure: slope, expect: {within: [1, 3]}}
- {id: slope-is-large, measure: slope, expect: {at_least: 5}}
- {id: endless, not_testable: No machine is that large.}
"""


@pytest.mark.parametrize(
    ("names", "verdicts"),
    [
        ({}, ("reproduced", "contradicted")),
        ({"settings": {}}, ("reproduced", "contradicted")),
        ({"profile": "smoke"}, ("not judged", "not judged")),
        ({"settings": {"n_pairs": 20}}, ("not judged", "not judged")),
    ],
)
def test_a_reader_sees_what_the_ledger_expects_and_the_verdict_at_the_papers_sizes(
    tmp_path, monkeypatch, shell, names, verdicts
):
    monkeypatch.delenv(module.OUTPUT, raising=False)
    monkeypatch.setattr(module, "_measures", {})
    monkeypatch.chdir(tmp_path)
    report(slope=2.0)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "claims.yml").write_text(LEDGER, encoding="utf-8")
    shell.user_ns |= names
    report(slope=2.0, free=[1.0, 3.0])  # a reader may run a cell again
    assert shell.shown == [
        table(heads("measure", "value"), fields("slope", "2")),
        table(
            heads("measure", "value", "claim", "expected", "verdict"),
            fields("slope", "2", "slope-is-two", "1 to 3", verdicts[0]),
            fields("", "", "slope-is-large", "at least 5", verdicts[1]),
            fields("free", "2 (1 to 3, n = 2)", "", "", ""),
        ),
    ]


def test_a_build_judges_no_report(output, shell, monkeypatch):
    (output / "data").mkdir()
    (output / "data" / "claims.yml").write_text(LEDGER, encoding="utf-8")
    monkeypatch.chdir(output)
    report(slope=2.0, free=True)
    rows = fields("slope", "2"), fields("free", "holds")
    assert shell.shown == [table(heads("measure", "value"), *rows)]
    assert shell.about == [{"measures": ["slope", "free"]}]


@pytest.mark.parametrize(
    ("value", "bound", "told", "outcome"),
    [
        (0.5, {"at_most": 1}, ": 0.5, expected at most 1", "holds"),
        (0.5, {"at_least": 1}, ": 0.5, expected at least 1", "does not hold"),
        ([0.5, 2.0], {"within": (0, 1)}, ": 1.25 (0.5 to 2, n = 2), expected 0 to 1",
         "holds in part"),
        ((0.0, 2.0), {"contains": 1}, ": 0 to 2, expected interval contains 1", "holds"),
        (True, {"holds": True}, "", "holds"),
        ({"x": True, "y": False}, {"holds": True}, ": 2 settings", "holds in part"),
    ],
)  # fmt: skip
def test_a_check_is_told_below_its_cell(output, shell, monkeypatch, value, bound, told, outcome):
    check("a < b", value, **bound)
    with pytest.raises(ValueError, match="reported twice"):
        check("a < b", value, **bound)
    monkeypatch.delenv(module.OUTPUT)
    monkeypatch.chdir(output)
    for toy in ({"settings": {"n_pairs": 20}}, {"settings": {}, "profile": "smoke"}):
        shell.user_ns |= toy
        check("a < b", value, **bound)
    outcomes = outcome, "not judged", "not judged"
    assert shell.shown == [f'<p class="check">a &lt; b{told} ({x})</p>' for x in outcomes]
    assert shell.about == [{"measures": ["check_a_b"], "check": True}] * 3
    kept = {form: list(b) if isinstance(b, tuple) else b for form, b in bound.items()}
    assert measures(output)["check_a_b"]["check"] == {"what": "a < b", **kept}


def test_a_check_is_named_by_its_words_letters_and_signs(output):
    for what in ("Loss at 2 < 3", "α − β", "α + β", "N²"):
        check(what, 1.0, at_most=1)
    assert [*measures(output)] == [
        *("check_loss_at_2_3", "check_alpha_minus_beta", "check_alpha_beta", "check_n2")
    ]


TEXTS = {"caption": "**It grows.** A line.", "alt": "The line grows from zero to one."}


def drawn():
    figure, axes = plt.subplots(figsize=(2, 1))
    axes.plot([0, 1], [0, 1])
    return figure


def shown(name="fig-1", **texts):
    show(drawn(), name, **(TEXTS | texts))


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (lambda: report(x=float("nan")), r"not a number \(NaN\)"),
        (lambda: report(x="1"), "not a number"),
        (lambda: report(x=(2.0, 1.0)), "low <= high"),
        (lambda: report(x=(1.0, 2.0, 3.0)), "low <= high"),
        (lambda: report(x=[]), "no seeds"),
        (lambda: report(x=[[1.0, 2.0]]), "is a list, not a number"),
        (lambda: report(x={}), "maps at least one name"),
        (lambda: report(x={" ": 1.0}), "name of a setting is a text, not ' '"),
        (lambda: report(x={"B = 4": []}), "no seeds in the setting 'B = 4'"),
        (lambda: report(x={"B = 4": True, "B = 8": 1.0}), "truth value in some settings"),
        (lambda: report(Loss=1.0), "snake_case"),
        (lambda: check("a loss", 1.0), "needs one bound"),
        (lambda: check("a loss", 1.0, holds=True), "does not fit the measured value 1"),
        (lambda: check("a loss", 1.0, contains=1), "needs a measured interval"),
        (lambda: check("a loss", 1.0, within=(2, 1)), "wrong way round"),
        (lambda: check("a loss", 1.0, at_most=math.inf), "is not finite"),
        (lambda: check("a loss", "lost", at_most=1), "is a str, not a number"),
        (lambda: check("a\nloss", 1.0, at_most=1), "says in words what it is about"),
        (lambda: check("Loss!", 1.0, at_most=1), "'check_loss' is reported twice"),
        (lambda: shown("Fig 1"), "figure name 'Fig 1' is not made of"),
        (lambda: shown("fig_narrow"), "figure name 'fig_narrow'"),
        (lambda: shown(alt="It  grows   a    lot."), "state its finding: 'It grows a lot.'"),
        (lambda: shown(alt="The line grows by nan percent."), "says 'nan': say what then"),
        (lambda: shown(caption="It grows by inf%."), "says 'inf': say what then"),
    ],
)
def test_what_says_nothing_is_refused(output, bad, reason):
    report(check_loss=1.0)
    with pytest.raises(ValueError, match=reason):
        bad()
    assert not any("check" in measure for measure in measures(output).values())
    assert measures(output).keys() <= {"check_loss", "check_a_loss"}
    assert not (output / "figures").exists()


def test_a_figure_says_what_it_is_and_its_caption_follows(output, shell):
    show(drawn(), "fig-1", caption="**It\n  grows.**", alt=f" {TEXTS['alt']}\n")
    picture, caption, fold = shell.shown
    assert picture["image/svg+xml"].startswith("<?xml")
    assert caption["text/markdown"] == caption["text/plain"] == "**It grows.**"
    assert fold.startswith(module.FOLD_OPENING)
    assert shell.about == [{"figure": "fig-1", "alt": TEXTS["alt"]}, {"caption": "fig-1"}, {}]


def test_a_figure_is_saved_closed_and_the_same_each_time_with_nine_digits_of_its_data(
    output,
):
    made = []
    data = {"x": torch.tensor([1 / 3, float("inf")], dtype=torch.float64), "n": np.arange(2)}
    for _ in range(2):
        show(drawn(), "fig-1", data=data, preset=Preset(), seeds=[7], **TEXTS)
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


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def grid(rows=1, columns=3, **kinds):
    """Panels with a line, a title above each column, and names along the outer axes."""
    figure, axes = plt.subplots(
        rows, columns, figsize=(11, 3 * rows), squeeze=False, layout="constrained", **kinds
    )
    for row in axes:
        row[0].set_ylabel("loss")
        for ax in row:
            ax.plot([0, 1], [0, 1])
    for number, ax in enumerate(axes[0]):
        ax.set_title(f"column {number}")
    for ax in axes[-1]:
        ax.set_xlabel("step")
    return figure, axes


def rows_of(axes):
    """The rows of panels, counted from the top."""
    return [ax.get_subplotspec().rowspan.start for ax in axes]


def test_on_a_phone_panels_lie_below_one_another_with_the_labels_they_shared():
    figure, axes = grid(sharex=True, sharey=True)
    fit(figure)
    stack(figure)
    figure.draw_without_rendering()
    assert figure.get_size_inches()[0] == NARROW
    assert rows_of(axes[0]) == [0, 1, 2]
    for ax in axes[0]:
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("step", "loss")
        assert any(label.get_text() for label in ax.get_yticklabels())
        assert ax.get_window_extent().width > 2.5 * figure.dpi


@pytest.mark.parametrize(
    ("shape", "marks"),
    [
        ((1, 2), ["left", "right"]),
        ((1, 3), ["left", "middle", "right"]),
        ((2, 2), ["top left", "top right", "bottom left", "bottom right"]),
        ((1, 4), [""] * 4),
    ],
)
def test_panels_that_move_are_marked_with_the_place_that_captions_name(shape, marks):
    figure, axes = grid(*shape)
    before = [ax.get_title("right") for ax in axes.flat]
    fit(figure)
    assert [ax.get_title("right") for ax in axes.flat] == before
    stack(figure)
    assert [ax.get_title("right") for ax in axes.flat] == marks
