"""A stored training computed again: from its plain configuration, to the same bits."""

from dataclasses import asdict, replace

import pytest

from bookbuild.errors import BookError
from bookbuild.execution.retrain import configured, train_again
from bookbuild.results.values import to_files
from chapters.paper.full_dynamics import Point, emergence_steps
from chapters.paper.induction_heads.described import TransformerRun, describe
from emergence.training import TokenTraining
from running.cache import Task
from tools.this_book import ROOT

SOURCES = ROOT / "src"
POINT = Point(n_pairs=2, seed=1, device="cpu", dim=8, batch_size=8, learning_rate=4.0)


def stored(function: object, configuration: object) -> dict[str, object]:
    return asdict(Task.of(function, configuration=configuration))


@pytest.mark.parametrize(
    ("function", "configuration"),
    [(emergence_steps, POINT), (describe, TransformerRun(TokenTraining(dim=64), 3, "cpu"))],
)
def test_a_configuration_is_made_again(function: object, configuration: object) -> None:
    assert configured(stored(function, configuration), SOURCES) == (function, configuration)


def test_a_configuration_that_lost_a_setting_is_refused() -> None:
    task = stored(emergence_steps, POINT)
    task["configuration"]["configuration"]["colour"] = "red"
    with pytest.raises(BookError, match="cannot be made again from what was stored"):
        configured(task, SOURCES)


@pytest.mark.parametrize(
    ("module", "function"),
    [
        ("distributed.utils", "import_file"),  # executes any file
        ("bookbuild.results.inventory", "prune"),  # ours, but of the builder
        ("chapters.paper.full_dynamics", "first_reached"),  # imported there, not defined
        ("../tests/this_book", "chapters"),
    ],
)
def test_an_archive_chooses_no_code(module: str, function: str) -> None:
    task = stored(emergence_steps, POINT) | {"module": module, "function": function}
    with pytest.raises(BookError, match=r"These sources define no .* it is not run"):
        configured(task, SOURCES)


def test_a_training_comes_out_to_the_same_bits_in_a_process_of_its_own() -> None:
    found = train_again(stored(emergence_steps, POINT), SOURCES)
    assert found == to_files(emergence_steps(POINT))
    assert found != to_files(emergence_steps(replace(POINT, n_pairs=4)))
    with pytest.raises(BookError, match=r"emergence_steps failed: .*Error"):
        train_again(stored(emergence_steps, replace(POINT, n_pairs=0)), SOURCES)


def test_a_training_that_takes_too_long_is_ended() -> None:
    endless = stored(emergence_steps, replace(POINT, dim=512, batch_size=4096, n_pairs=64))
    with pytest.raises(TimeoutError, match="emergence_steps took longer than 3"):
        train_again(endless, SOURCES, seconds=3.0)
