"""Figures draw the arrays they are given, on the axes they are given."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb

from emergence import plotting
from emergence.subspace import INDUCTION_HEAD, NAMES, PseudoParameters, embed


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def ax():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def lines(axes):
    return [(line.get_xdata(), line.get_ydata(), line.get_color()) for line in axes.lines]


def test_each_quantity_has_its_own_symbol_and_colour():
    assert [plotting.symbol(name) for name in ("beta_12", "alpha")] == [
        r"$\beta_{12}$",
        r"$\alpha$",
    ]
    assert len(set(plotting.COLOURS.values())) == len(plotting.COLOURS)
    assert plotting.colour("alpha_3") == plotting.colour("alpha") == plotting.COLOURS["alpha"]
    assert plotting.colour("mystery") == plotting.COLOURS["other"]


def test_heat_map_shows_the_matrix_centred_at_zero(ax, rng):
    matrix = rng.standard_normal((4, 6)) + 2
    assert plotting.heat_map(ax, matrix, blocks=(["1", "2"], ["a", "b", "c"]), title="W") is ax
    (image,) = ax.images
    assert np.array_equal(image.get_array(), matrix)
    assert image.get_clim() == (-np.abs(matrix).max(), np.abs(matrix).max())
    assert tuple(image.get_extent()) == (0, 6, 4, 0)  # row 0 at the top
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "b", "c"]
    assert (ax.get_xticks().tolist(), ax.get_yticks().tolist()) == ([1, 3, 5], [1, 3])
    assert [x[0] for x, y, _ in lines(ax) if list(x) != [0, 1]] == [2, 4]
    assert [y[0] for x, y, _ in lines(ax) if list(x) == [0, 1]] == [2]
    assert ax.get_title(loc="left") == "W"


def test_seed_band_is_mean_and_range(ax, rng):
    x, runs = np.linspace(0, 1, 5), rng.standard_normal((3, 5))
    assert plotting.seed_band(ax, x, runs, name="beta_2", label="b", at=0.3, linestyle=":") is ax
    ((drawn_x, drawn_y, colour),) = lines(ax)
    assert np.array_equal(drawn_x, x)
    assert np.array_equal(drawn_y, runs.mean(axis=0))
    assert colour == plotting.COLOURS["beta"]
    assert ax.lines[0].get_linestyle() == ":"
    corners = ax.collections[0].get_paths()[0].vertices
    for i, place in enumerate(x):
        column = corners[corners[:, 0] == place, 1]
        assert (column.min(), column.max()) == (runs[:, i].min(), runs[:, i].max())
    (label,) = ax.texts
    assert (label.get_text(), label.xy) == ("b", (x[1], runs.mean(axis=0)[1]))


def test_dynamics_draw_all_and_predict_the_head(rng):
    steps, values, law = (
        np.arange(4.0),
        rng.standard_normal((2, 4, 19)),
        rng.random((4, 19)),
    )
    run = values, values[..., 0]
    figure = plotting.dynamics(steps, {"one": run}, {"one": (law, law[:, 0])})
    left, right = figure.axes
    drawn = [(line.get_ydata(), line.get_color()) for line in left.lines]
    for i, name in enumerate(NAMES):
        colour = plotting.colour(name) if name in INDUCTION_HEAD else plotting.COLOURS["other"]
        mean = values[:, :, i].mean(axis=0)
        assert any(np.array_equal(y, mean) and c == colour for y, c in drawn)
    dashed = [line for line in left.lines if line.get_linestyle() == "--"]
    for name, line in zip(INDUCTION_HEAD, dashed, strict=True):
        assert np.array_equal(line.get_ydata(), law[:, NAMES.index(name)])
        assert sum(to_rgb(line.get_color())) < sum(to_rgb(plotting.colour(name)))  # a darker shade
    assert [text.get_text() for text in left.texts] == list(map(plotting.symbol, INDUCTION_HEAD))
    assert np.array_equal(right.lines[1].get_ydata(), law[:, 0])
    plt.close(figure)


@pytest.mark.parametrize("predicted", [None, {}])
def test_dynamics_without_a_prediction_have_no_dashed_curves(predicted, rng):
    values = rng.standard_normal((2, 4, 19))
    figure = plotting.dynamics(np.arange(4.0), {"one": (values, values[..., 0])}, predicted)
    assert all(line.get_linestyle() == "-" for ax in figure.axes for line in ax.lines)
    assert [len(ax.lines) for ax in figure.axes] == [19, 1]
    plt.close(figure)


def test_weight_maps_show_the_three_matrices(rng):
    shapes = {"w1": (4, 4), "w2": (8, 8), "w3": (16, 2)}
    weights = {name: rng.standard_normal(shape) for name, shape in shapes.items()}
    figure = plotting.weight_maps(weights, 2)
    maps = [axes for axes in figure.axes if axes.images]
    shown = [axes.images[0].get_array() for axes in maps]
    for image, matrix in zip(shown, (weights["w1"], weights["w2"], weights["w3"].T), strict=True):
        assert np.array_equal(image, matrix)
    ticks = [len(axes.get_xticks()) for axes in maps], [len(axes.get_yticks()) for axes in maps]
    assert ticks == ([2, 4, 8], [2, 4, 1])
    assert len({axes.images[0].get_clim() for axes in maps}) == 1  # one scale
    plt.close(figure)


def test_weight_maps_have_bars_of_the_nineteen_over_what_theorem_1_forbids(rng):
    pseudo = PseudoParameters.unstack(torch.from_numpy(rng.standard_normal(19)))
    weights = {name: value.numpy() for name, value in embed(pseudo, 4)._asdict().items()}
    weights["w2"][4:8, 8:12] += 0.25 * np.eye(4)  # a diagonal where there may be none
    figure = plotting.weight_maps(weights, 4)
    (bars,) = (axes for axes in figure.axes if not axes.images)
    band, *drawn = bars.patches
    assert np.allclose([bar.get_width() for bar in drawn], pseudo.stacked())
    assert (band.get_x(), band.get_width()) == pytest.approx((-0.25, 0.5))
    plt.close(figure)


def test_the_same_data_give_the_same_file(tmp_path):
    with mpl.rc_context({"svg.hashsalt": "book"}):
        for name in ("one", "two"):
            figure, axes = plt.subplots()
            plotting.heat_map(axes, np.outer(np.arange(3.0), np.ones(3)), title="W")
            plotting.seed_band(axes, np.arange(3.0), np.eye(3), name="alpha", label=r"$\alpha$")
            figure.savefig(tmp_path / f"{name}.svg", metadata={"Date": None})
            plt.close(figure)
    first, two = ((tmp_path / f"{name}.svg").read_bytes() for name in ("one", "two"))
    assert first == two
    assert b"<text" not in first  # glyphs as paths: no font is needed to read the figure
