"""The record of what was preregistered: whether an expectation stood before its measure.

The record is derived from the history of the repository by `tools/preregistration.py`, and stored,
because Binder, Colab and shallow clones have no history.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .claims import Claim
from .expectations import Expectation, read_expectation
from .stored import PREREGISTRATION, read_record

State = Literal["before", "together", "after", "changed"]

COMMAND = "make record WHAT=preregistration"


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
    return {
        name: Preregistration(
            row["preregistration"],
            read_expectation(row["expect"]),
            tuple(map(read_expectation, row.get("was", ()))),
        )
        for name, row in read_record(root / PREREGISTRATION).get("rows", {}).items()
    }


def unmarked(claims: Sequence[Claim], record: Mapping[str, Preregistration]) -> Iterator[str]:
    """Yield a sentence for each row of the ledger that the record does not know as it is."""
    again = f"run {COMMAND}, and commit the file."
    for claim in claims:
        if claim.expectation is None:
            continue
        known = record.get(claim.id)
        if known is None:
            yield f"Row {claim.id!r} is not in {PREREGISTRATION}: {again}"
        elif known.expectation != claim.expectation:
            yield (
                f"Row {claim.id!r} expects {claim.expectation}, and {PREREGISTRATION} says "
                f"{known.expectation}: a changed expectation is marked as changed by {COMMAND};"
                " run it, and commit the file."
            )
    ids = {claim.id for claim in claims if claim.expectation is not None}
    for name in record:
        if name not in ids:
            yield f"{PREREGISTRATION} has a row {name!r}, the ledger has none: {again}"
