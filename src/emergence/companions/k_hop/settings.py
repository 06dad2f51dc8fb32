"""Settings of the chapter on k-hop, in both profiles."""

from dataclasses import dataclass

from emergence.companions.retrieval.model import Architecture
from emergence.companions.retrieval.task import Mode
from emergence.companions.retrieval.training import RetrievalTraining
from emergence.preset import Preset


@dataclass(frozen=True)
class KHop:
    """Three layers, which reach seven hops, on the retrieval problem with four.

    Sizes are ours; Wang et al. prove theorems about a task with hidden permutations as well. Steps
    and batch are those of the retrieval problem, so that both chapters train the same networks on
    the same data. A step of five seeds with four hops takes 0.11 to 0.12 s of one core; six
    trainings, three of them on fewer facts, come to about 14 min of one core, within 15 min on two.
    """

    constructed_k: int = 16  # all k up to it
    symbols: int = 4  # N
    contexts: int = 50  # a k, each with N questions; half of them permutations
    n_hops: int = 4
    n_layers: int = 3
    steps: int = 1500
    batch_size: int = 86  # contexts with three questions each, 258 questions a step
    record_every: int = 10
    test_size: int = 32  # contexts a number of hops, at each record
    exam_size: int = 200  # 600 questions: standard error of an accuracy below 0.02
    level: float = 2 / 3  # half way between a guess among three ends and certainty

    def training(self, mode: Mode, n_hops: int | None = None) -> RetrievalTraining:
        """Training on chains of D facts, `n_hops` if it is not the chapter's."""
        return RetrievalTraining(
            mode=mode,
            steps=self.steps,
            architecture=Architecture(n_layers=self.n_layers),
            n_hops=n_hops or self.n_hops,
            batch_size=self.batch_size,
            record_every=self.record_every,
            test_size=self.test_size,
        )


PRESET = {
    "paper": Preset(KHop()),
    "smoke": Preset(
        KHop(
            constructed_k=5,
            contexts=6,
            steps=12,
            batch_size=8,
            record_every=4,
            test_size=8,
            exam_size=8,
        ),
        2,
    ),
}
