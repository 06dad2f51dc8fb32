"""Sizes between the paper's and tiny ones, for chapters that take too long per fault: reduced.yml.

They are planted into a chapter as faults are, beside the fault if there is one. The chapter is then
executed in the paper profile. What the drill finds so counts as at the paper's sizes, since each
row has its verdict there too; `verdicts.weaker` names those that have not.
"""

from pathlib import Path
from typing import NamedTuple

import yaml

from .fault import Fault

PROFILE = "reduced"
FILE = Path(__file__).parent / "reduced.yml"


class Reduced(NamedTuple):
    """The smaller sizes of a chapter: in words, and the changes of sources that make them."""

    says: str
    changes: tuple[Fault, ...]


def read_reduced(file: Path = FILE) -> dict[str, Reduced]:
    """The smaller sizes by chapter. Raises KeyError for a malformed one."""
    document = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    return {
        chapter: Reduced(
            given["says"].strip(),
            tuple(
                Fault(PROFILE, given["says"], one["in"], one["right"], one["wrong"], (chapter,))
                for one in given["changes"]
            ),
        )
        for chapter, given in document.items()
    }


REDUCED = read_reduced()
