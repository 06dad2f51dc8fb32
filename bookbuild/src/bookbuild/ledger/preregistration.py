"""The record of preregistration: whether an expectation was written before its measure existed.

The record is derived from the history of the repository by `evidence/preregistration.py`, and
stored, because Binder, Colab and shallow clones have no history; a test holds it against that.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bookbuild.errors import raise_if_any
from bookbuild.reporting.expectations import Expectation, read_expectation
from bookbuild.schema import faults, load

PREREGISTRATION = Path("data/preregistration.json")
SCHEMA = Path(__file__).with_name("preregistration.schema.json")
State = Literal["before", "together", "after", "changed"]


@dataclass(frozen=True)
class Preregistration:
    """When an expectation was written, relative to the first report of its measure.

    `together`: both came in one commit, or on parallel branches, and the order cannot be told.
    `changed`: it was another one, `was`, when the measure existed already.
    """

    state: State
    expectation: Expectation
    was: tuple[Expectation, ...] = ()


def read_preregistration(root: Path) -> dict[str, Preregistration]:
    """Return the record by the id of its rows, empty where there is none; raise BookError."""
    if not (root / PREREGISTRATION).is_file():
        return {}
    document = load(root / PREREGISTRATION, PREREGISTRATION)
    raise_if_any(f"{PREREGISTRATION}: {fault.clause}." for fault in faults(document, SCHEMA))
    return {
        name: Preregistration(
            row["preregistration"],
            read_expectation(row["expect"]),
            tuple(map(read_expectation, row.get("was", ()))),
        )
        for name, row in document["rows"].items()
    }
