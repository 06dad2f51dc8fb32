"""emergence plot: draws a training that was saved."""

from pathlib import Path

import click

from emergence.training import load

from ._train import check_place, figure, summary


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
