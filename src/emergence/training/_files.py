"""Trainings in files: settings, seeds and records, as `emergence train --save` writes them."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from emergence.models import Weights
from emergence.running.devices import generator
from emergence.running.files import write_whole

from ._minimal import CPU, MinimalRecord
from ._settings import MinimalTraining, TokenTraining
from ._transformer import TokenRecord, initial_transformer

FORMAT = "emergence training 1"


class Run(NamedTuple):
    """A training and what it measured (§2, §4).

    Attributes:
        settings: of the training.
        seeds: one for each network.
        record: of all seeds for `MinimalTraining`, and one for each seed for `TokenTraining`.
    """

    settings: MinimalTraining | TokenTraining
    seeds: tuple[int, ...]
    record: MinimalRecord | tuple[TokenRecord, ...]


def save(run: Run, path: Path | str) -> None:
    """Save a training to a file, which is replaced (§2, §4).

    Args:
        run: the training; readings of a transformer are left out.
        path: the file.

    Raises:
        OSError: if it cannot be written.
    """
    if isinstance(run.record, MinimalRecord):
        record: Any = run.record._asdict()
        record["snapshots"] = {step: tuple(w) for step, w in run.record.snapshots.items()}
    else:
        record = [
            {"loss": each.loss, "accuracy": each.accuracy, "model": each.model.state_dict()}
            for each in run.record
        ]
    settings = {"kind": type(run.settings).__name__, **dataclasses.asdict(run.settings)}
    content = {"format": FORMAT, "settings": settings, "seeds": run.seeds, "record": record}
    write_whole(content, Path(path))


def load(path: Path | str) -> Run:
    """Load a training from a file (§2, §4).

    Args:
        path: a file that `training.save` or `emergence train --save` wrote.

    Returns:
        The training, in main memory.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it is no such file.
    """
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
        if content["format"] != FORMAT:
            raise ValueError(content["format"])
        kinds = {kind.__name__: kind for kind in (MinimalTraining, TokenTraining)}
        settings = kinds[content["settings"].pop("kind")](**content["settings"])
        seeds, record = tuple(content["seeds"]), content["record"]
        if isinstance(settings, TokenTraining):
            return Run(settings, seeds, _transformers(settings, seeds, record))
        record["snapshots"] = {step: Weights(*w) for step, w in record["snapshots"].items()}
        return Run(settings, seeds, MinimalRecord(**record))
    except OSError:
        raise
    except Exception as error:  # whatever another file makes PyTorch raise
        raise ValueError(f"{path} is no training that emergence has saved") from error


def _transformers(
    settings: TokenTraining, seeds: Sequence[int], records: Sequence[dict[str, Any]]
) -> tuple[TokenRecord, ...]:
    found = []
    for seed, record in zip(seeds, records, strict=True):
        model = initial_transformer(settings, generator(seed, CPU))
        model.load_state_dict(record["model"])
        found.append(TokenRecord(record["loss"], record["accuracy"], model, {}))
    return tuple(found)
