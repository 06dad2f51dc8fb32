"""emergence train: trains the networks of the book, with progress, and resumes after a kill."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from emergence.running import cache, devices
from emergence.running.files import FileCache
from emergence.subspace import HEAD
from emergence.training import (
    MinimalRecord,
    MinimalTraining,
    Run,
    TokenTraining,
    predict_minimal,
    save,
    train_minimal,
    train_tokens,
)

from ._bar import bar
from ._options import options_of

MINIMAL = ("n_pairs", "dim", "batch_size", "steps", "learning_rate", "mask", "until_loss")
ALONE = {  # what only one of the two networks has
    True: ("optimiser", "vocabulary", "block_size", "weight_decay", "embedding_scale", "maps"),
    False: ("data", "query", "supervision", "copies", "initial_scale", "record_every"),
}
STEPS = 1000  # by default, of the disentangled transformer
FIGURES = ".svg", ".pdf", ".png"
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
    writer = _writer() if log else None
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
        try:
            predicted = predict_minimal(run.settings)
        except ValueError:  # the closed form does not cover the settings
            predicted = None
    plotting.training(run, predicted).savefig(path)


def check_place(path: Path, *, drawn: bool) -> None:
    """Raise ValueError where a file cannot be written, or is no kind of figure."""
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent} for {path.name}")
    if drawn and path.suffix not in FIGURES:
        raise ValueError(f"{path.name} should end with {', '.join(FIGURES)}")


def _writer() -> Any:
    """The class that writes for TensorBoard; ValueError where that is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise ValueError("--log needs TensorBoard: run pip install tensorboard") from error
    return SummaryWriter


def _log(run: Run, writer_of: Any, folder: Path) -> None:
    """Write the curves of a training for TensorBoard."""
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
