"""Which wrong trainings lie within reach of a row, and what the row makes of each.

A fault in a training is within reach of a row unless it is a symmetry, leaves the statement of the
row true, or stops the chapter, so that the row has no verdict at all. A row that such a fault
leaves green, or makes better, has not seen it. Each statement that a fault leaves true has a
reason, which was written down before the fault was tried.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, get_args

ENOUGH = 20  # wrong trainings tried on a chapter, from which on its rows are held to the bar
BAR = 0.6  # of the wrong trainings within its reach, those that a row should kill
CODE = "code"  # the kind of a fault that is in no training
SYMMETRY = "symmetry"  # the reason of a fault that changes no law
Sight = Literal["kills", "green", "better", "true", "broken", "stops"]
SEEN: tuple[Sight, ...] = get_args(Sight)[:3]  # what a row makes of a fault within its reach


class Trained(NamedTuple):
    """A wrong training as a row sees it.

    Attributes:
        says: what is wrong.
        kind: of what: network, task, loss or gradient.
        profile: at which sizes it was tried: paper, reduced or smoke. At reduced ones rows have the
            verdicts that they have at the paper's, so that these count as full.
        sight: `kills`, `green` or `better` within reach; `true` if the statement stays true and the
            row green, `broken` if the row turns all the same, at full size; `stops` if it has no
            verdict.
        why: why the statement stays true, if it does: the name of the reason, or its text.
    """

    says: str
    kind: str
    profile: str
    sight: Sight
    why: str = ""

    @property
    def tiny(self) -> bool:
        """Whether it was tried at the sizes of the smoke profile."""
        return self.profile == "smoke"


def trained(faults: Mapping[str, Mapping[str, Any]], row: Mapping[str, Any]) -> dict[str, Trained]:
    """Return the wrong trainings tried on a chapter as a row of it sees them, by name."""
    return {
        name: Trained(fault["says"], fault["kind"], fault["profile"], sight, why)
        for name, fault in faults.items()
        if fault.get("kind", CODE) != CODE
        for why in [SYMMETRY if "symmetry" in fault else row.get("kept", {}).get(name, "")]
        for sight in [_sight(name, why, row, fault["profile"] == "smoke")]
    }


def contradicted(faults: Mapping[str, Mapping[str, Any]], row: Mapping[str, Any]) -> dict[str, str]:
    """Return the faults that turn a row although its statement stays true, each with its reason."""
    seen = trained(faults, row).items()
    return {name: fault.why for name, fault in seen if fault.sight == "broken"}


def kills(faults: Iterable[Trained]) -> tuple[int, int]:
    """Return how many wrong trainings a row kills, of how many within its reach, at full size."""
    sights = [fault.sight for fault in faults if not fault.tiny and fault.sight in SEEN]
    return sights.count("kills"), len(sights)


def sees_little(faults: Iterable[Trained]) -> bool:
    """Return whether a row kills too few of the wrong trainings within its reach, at full size.

    Where fewer than ENOUGH were tried, nothing is said.
    """
    tried = [fault for fault in faults if not fault.tiny]
    killed, of = kills(tried)
    return len(tried) >= ENOUGH and killed < BAR * of


def _sight(name: str, why: str, row: Mapping[str, Any], tiny: bool) -> Sight:
    if name in row.get("not reached", ()):
        return "stops"
    turned = name in row.get("turned", ())
    if why:
        # at tiny sizes a verdict turns by noise alone, and means nothing
        return "broken" if turned and not tiny else "true"
    if turned:
        return "kills"
    return "better" if name in row.get("improved", ()) else "green"
