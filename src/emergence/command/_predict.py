"""emergence predict: when a training will form the head, by theory alone."""

import json
from pathlib import Path
from typing import Any

import click
import numpy as np

from emergence.experiments.first_passage import predicted_minimal_steps
from emergence.training import MinimalTraining, predict_minimal

from ._options import options_of
from ._train import check_place

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
