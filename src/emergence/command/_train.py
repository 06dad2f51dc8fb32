"""emergence train, plot and predict: trainings with progress, which resume after a kill."""

import importlib
import json
import logging
import re
import sys
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import click
import numpy as np
from click.termui import progressbar

from emergence.experiments.first_passage import predicted_minimal_steps
from emergence.presets import ABOVE_ZERO, LEAST
from emergence.running import cache, devices, progress
from emergence.running.files import FileCache
from emergence.subspace import HEAD
from emergence.training import (
    MinimalRecord,
    MinimalTraining,
    Run,
    TokenTraining,
    load,
    predict_minimal,
    save,
    train_minimal,
    train_tokens,
)

Command = Callable[..., Any]
ENTRY = re.compile(r"^        (\w+): (.*(?:\n            .*)*)", re.MULTILINE)  # of `Args:`
SPELLED = {"optimiser": "--optimizer"}  # as most people write it


def options_of(settings: type, *names: str, **defaults: Any) -> Callable[[Command], Command]:
    """Give a command an option for each of some fields of a dataclass of settings."""
    said = {name: " ".join(text.split()) for name, text in ENTRY.findall(settings.__doc__ or "")}
    hints, by_name = get_type_hints(settings), {field.name: field for field in fields(settings)}

    def given(command: Command) -> Command:
        for name in reversed(names):
            default = defaults.get(name, by_name[name].default)
            kind = _kind(name, hints[name])
            command = click.option(
                SPELLED.get(name, f"--{name.replace('_', '-')}"),
                name,
                type=kind,
                default=None if default is MISSING else default,
                show_default=default not in (MISSING, None),
                help=said[name].replace("`", ""),
            )(command)
        return command

    return given


def _kind(name: str, hint: Any) -> click.ParamType:
    """The type of an option, with the least value that the setting may have."""
    if get_origin(hint) is Literal:
        return click.Choice(get_args(hint))
    if get_origin(hint) in (Union, types.UnionType):
        (hint,) = (kind for kind in get_args(hint) if kind is not types.NoneType)
    if hint is int:
        return click.IntRange(min=LEAST.get(name))
    if name in ABOVE_ZERO:
        return click.FloatRange(min=0, min_open=True)
    return click.FloatRange(min=LEAST[name]) if name in LEAST else click.FLOAT


MINIMAL = ("n_pairs", "dim", "batch_size", "steps", "learning_rate", "mask", "until_loss")
ALONE = {  # what only one of the two networks has
    True: ("optimiser", "vocabulary", "block_size", "weight_decay", "embedding_scale", "maps"),
    False: ("data", "query", "supervision", "copies", "initial_scale", "record_every"),
}
STEPS = 1000  # by default, of the disentangled transformer
FIGURES = ".svg", ".pdf", ".png"
SECONDS = 0.1  # between two drawings of a bar
TOKENS = TokenTraining()
HELP = f"""\
Train the disentangled transformer (§4) or, with --tokens, the transformer of §2.

With --tokens, what is not given is that of §2: {TOKENS.n_pairs} pairs, D = {TOKENS.dim}, batches of
{TOKENS.batch_size}, {TOKENS.steps} steps of {TOKENS.optimiser} at the rate {TOKENS.learning_rate},
the {TOKENS.mask} mask. Without it, D is 2N, and the optimizer is sgd.
"""


@click.command(help=HELP)
@click.option("--tokens", is_flag=True, help="train the transformer on tokens of §2 instead")
@options_of(MinimalTraining, *MINIMAL, n_pairs=16, batch_size=256, steps=STEPS)
@options_of(MinimalTraining, *ALONE[False])
@options_of(TokenTraining, *ALONE[True], optimiser=None)
@click.option("--seeds", type=click.IntRange(1), default=1, show_default=True,
              help="how many networks are trained, with the seeds 0, 1, 2 and so on")  # fmt: skip
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto",
              show_default=True, help="where they are trained")  # fmt: skip
@click.option("--save", "saved", type=click.Path(dir_okay=False, path_type=Path),
              help="a file for the record and the final weights; a training that was killed "
              "resumes if the command is repeated")  # fmt: skip
@click.option("--plot", "plotted", type=click.Path(dir_okay=False, path_type=Path),
              help="a file for the figure, such as run.svg")  # fmt: skip
@click.option("--log", type=click.Path(file_okay=False, path_type=Path),
              help="a folder for TensorBoard, which has to be installed")  # fmt: skip
@click.pass_context
def train(context: click.Context, **given: Any) -> None:
    tokens, n_seeds, device = (given.pop(name) for name in ("tokens", "seeds", "device"))
    saved, plotted, log = (given.pop(name) for name in ("saved", "plotted", "log"))
    settings = _settings(context, given, tokens=tokens)
    seeds, on = tuple(range(n_seeds)), devices.resolve_device(device)
    for path in filter(None, (saved, plotted)):
        check_place(path, drawn=path is plotted)
    try:
        writer = importlib.import_module("torch.utils.tensorboard").SummaryWriter if log else None
    except ImportError as error:
        raise ValueError("--log needs TensorBoard: run pip install tensorboard") from error
    store = FileCache(saved) if saved else None
    with cache.attached(store or cache.NO_CACHE), bar():
        if isinstance(settings, TokenTraining):
            trained = [
                train_tokens(settings, seed, device=on, label=f"seed {seed}") for seed in seeds
            ]
            run = Run(settings, seeds, tuple(each._replace(readings={}) for each in trained))
        else:
            run = Run(settings, seeds, train_minimal(settings, seeds, device=on))
    if saved and store:
        save(run, saved)
        store.remove()
    for line in summary(run):
        click.echo(line)
    if plotted:
        figure(run, plotted)
    if writer:
        _log(run, writer, log)


def _settings(
    context: click.Context, given: dict[str, Any], *, tokens: bool
) -> MinimalTraining | TokenTraining:
    """The settings that the options make; ValueError for one that the network does not have."""
    named = {
        name for name in given
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    }  # fmt: skip
    if foreign := sorted(named & {*ALONE[not tokens]} - {"optimiser"}):
        network = "transformer on tokens" if tokens else "disentangled transformer"
        raise ValueError(f"the {network} has no setting {foreign[0].replace('_', '-')}")
    if tokens:
        return replace(TokenTraining(), **{name: given[name] for name in named})
    if given["optimiser"] == "adamw":
        raise ValueError("the disentangled transformer is trained by sgd; --tokens has adamw")
    chosen = {name: given[name] for name in (*MINIMAL, *ALONE[False])}
    chosen["dim"] = given["dim"] or 2 * given["n_pairs"]
    return MinimalTraining(**chosen, snapshots=(given["steps"],))


def summary(run: Run) -> Iterator[str]:
    """What a training has come to, a line for each seed."""
    if isinstance(run.record, MinimalRecord):
        names = ("α₃", "β₂", "γ₃")
        for seed, pseudo, loss in zip(run.seeds, run.record.pseudo, run.record.loss, strict=True):
            last = pseudo[-1][HEAD].tolist()
            head = ", ".join(f"{name} {x:.3g}" for name, x in zip(names, last, strict=True))
            yield f"seed {seed}: loss {float(loss[-1]):.4g} after {len(loss)} records, {head}"
    else:
        for seed, each in zip(run.seeds, run.record, strict=True):
            loss, right = float(each.loss[-1]), float(each.accuracy[-1])
            yield f"seed {seed}: loss {loss:.4g}, accuracy {right:.1%} after {len(each.loss)} steps"


def figure(run: Run, path: Path) -> None:
    """Draw a training to a file, with the prediction where there is one."""
    from emergence import plotting

    predicted = None
    if isinstance(run.settings, MinimalTraining):
        with suppress(ValueError):  # the closed form does not cover the settings
            predicted = predict_minimal(run.settings)
    plotting.training(run, predicted).savefig(path)


def check_place(path: Path, *, drawn: bool) -> None:
    """Raise ValueError where a file cannot be written, or is no kind of figure."""
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent} for {path.name}")
    if drawn and path.suffix not in FIGURES:
        raise ValueError(f"{path.name} should end with {', '.join(FIGURES)}")


def _log(run: Run, writer_of: Any, folder: Path) -> None:
    for place, seed in enumerate(run.seeds):
        with writer_of(folder / f"seed_{seed}") as writer:
            if isinstance(run.record, MinimalRecord):
                curves = {"loss": run.record.loss[place]}
                steps = run.record.steps.tolist()
            else:
                curves = {name: getattr(run.record[place], name) for name in ("loss", "accuracy")}
                steps = [*range(len(run.record[place].loss))]
            for name, curve in curves.items():
                for step, value in zip(steps, curve.tolist(), strict=True):
                    writer.add_scalar(name, value, step)


@contextmanager
def bar() -> Iterator[None]:
    """Draw the steps of trainings as bars with the time that is left."""
    bars: dict[str, Any] = {}
    drawn, before = 0.0, progress.logger.level

    def draw(record: logging.LogRecord) -> bool:
        nonlocal drawn
        label, step, total = (getattr(record, x) for x in ("experiment", "step", "total"))
        if label not in bars:
            drawing = progressbar(length=total, label=label, file=sys.stderr, show_pos=True)
            bars[label] = drawing.__enter__()
        if step == total or time.monotonic() - drawn > SECONDS:
            bars[label].update(step - bars[label].pos)
            drawn = time.monotonic()
        return True

    progress.logger.addFilter(draw)
    progress.logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        for drawing in bars.values():
            drawing.render_finish()
        progress.logger.removeFilter(draw)
        progress.logger.setLevel(before)


@click.command()
@click.argument("saved", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path),
              help="the figure; without it, the name of the file with .svg")  # fmt: skip
def plot(saved: Path, output: Path | None) -> None:
    """Draw a training that emergence train --save has written."""
    path = output or saved.with_suffix(".svg")
    check_place(path, drawn=True)
    run = load(saved)
    for line in summary(run):
        click.echo(line)
    figure(run, path)
    click.echo(str(path))


NAMES = {"gamma": "γ₃", "beta": "β₂", "alpha": "α₃", "loss": "loss"}


@click.command()
@options_of(MinimalTraining, "n_pairs", "dim", "steps", "learning_rate", "mask", "query",
            "supervision", n_pairs=16, steps=10_000)  # fmt: skip
@click.option("--plot", "plotted", type=click.Path(dir_okay=False, path_type=Path),
              help="a file for the predicted curves, such as curves.svg")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="print numbers instead of sentences")
def predict(plotted: Path | None, *, as_json: bool, **given: Any) -> None:
    """Predict when the three parameters of the head emerge, without data and nothing fitted.

    It is the descent of the population loss in the 19 dimensions of Theorem 1, in steps of training
    on Gaussian data from zero. A score has emerged at one half, D times its weight; so has γ₃.
    """
    if plotted:
        check_place(plotted, drawn=True)
    given["dim"] = given["dim"] or 2 * given["n_pairs"]
    settings = MinimalTraining(**given, batch_size=1)
    levels = (0.5 / settings.dim, 0.5 / settings.dim, 0.5)
    alpha, beta, gamma, loss = predicted_minimal_steps(settings, levels=levels)
    times = {"gamma": gamma, "beta": beta, "alpha": alpha, "loss": loss}
    steps = {name: int(at) if np.isfinite(at) else None for name, at in times.items()}
    where = f"N = {settings.n_pairs}, D = {settings.dim}, {settings.mask} mask"
    if as_json:
        click.echo(json.dumps({"settings": given, "steps": steps}, indent=1))
    else:
        click.echo(f"{where}, {settings.query} pair asked, supervision: {settings.supervision}")
        for name, at in steps.items():
            verb = "falls below one half" if name == "loss" else "emerges"
            when = f"not within {settings.steps:,} steps" if at is None else f"at step {at:,}"
            click.echo(f"{NAMES[name]} {verb}: {when}")
    if plotted:
        from emergence import plotting

        law = predict_minimal(settings)
        curves = {where: (law.pseudo[None], law.loss[None])}
        plotting.dynamics(law.steps, curves).savefig(plotted)
