"""What is stored of the rows beside their claims: when written, how steady, how easily missed."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .claims import Finding
from .foreseen import Foreseen
from .robust import Rerun
from .sabotage import Planted


@dataclass(frozen=True)
class Records:
    """What is stored of the rows beside their claims, by id."""

    foreseen: Mapping[str, Foreseen] = field(default_factory=dict)
    reruns: Mapping[str, Rerun] = field(default_factory=dict)  # at other first seeds
    roundings: Mapping[str, Rerun] = field(default_factory=dict)
    trials: Mapping[str, Planted] = field(default_factory=dict)

    def state(self, finding: Finding) -> Foreseen | None:
        """Return when the expectation was written, if the record is about this very one."""
        known = self.foreseen.get(finding.claim.id)
        return known if known and known.expectation == finding.claim.expectation else None
