"""The planted faults, a file a room, and the rows that are argued for."""

from pathlib import Path

import yaml

from .fault import Fault

FOLDER = Path(__file__).parent / "catalogue"
ARGUMENTS = Path(__file__).parent / "argued.yml"
BLINDNESS = Path(__file__).parent / "blind.yml"


def read_faults(folder: Path = FOLDER) -> tuple[Fault, ...]:
    """The faults in the order of the files. Raises TypeError for a malformed one."""
    rows = (
        row
        for file in sorted(folder.glob("*.yml"))
        for row in yaml.safe_load(file.read_text(encoding="utf-8"))
    )
    return tuple(
        Fault(
            name=row.pop("fault"),
            file=row.pop("in"),
            old=row.pop("right"),
            new=row.pop("wrong"),
            chapters=tuple(row.pop("sees")),
            keeps=tuple(row.pop("keeps", ())),
            **row,
        )
        for row in rows
    )


def read_arguments(file: Path = ARGUMENTS) -> dict[str, str]:
    """Why a row is in order that no planted fault turns, or that sees too few, by its id."""
    return yaml.safe_load(file.read_text(encoding="utf-8")) or {}


FAULTS = read_faults()
ARGUED = read_arguments()
BLIND = read_arguments(BLINDNESS)
