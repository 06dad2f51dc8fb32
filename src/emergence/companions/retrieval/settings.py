"""Settings of the chapter on the retrieval problem, in both profiles."""

from dataclasses import dataclass

from emergence.preset import Preset

from .model import Architecture
from .task import Mode
from .training import RetrievalTraining


@dataclass(frozen=True)
class Retrieval:
    """Chains of four facts: two layers of forward merging reach three, three reach seven.

    Ours throughout, since the source's abstract gives no sizes; chosen for two processor cores.
    """

    counted_hops: int = 45  # four layers reach 40
    constructed_layers: int = 3  # at most; three reach 13 facts
    constructed_contexts: int = 100
    n_hops: int = 4
    batch_size: int = 86  # contexts, each with a question a chain: 258 questions
    two_layer_steps: int = 2000  # more than three layers need, so that time is no excuse
    three_layer_steps: int = 1500
    record_every: int = 10
    test_size: int = 64
    exam_size: int = 400  # contexts, 1200 questions: standard error of an accuracy below 0.015
    levels: tuple[float, ...] = (0.2, 0.3, 0.4, 0.5)  # of attention, above a uniform 1/12
    prompt_hops: int = 4
    prompts: int = 100  # a form, if there is a language model

    def training(self, n_layers: int, mode: Mode) -> RetrievalTraining:
        """Training of a network of two or three layers."""
        return RetrievalTraining(
            mode=mode,
            steps={2: self.two_layer_steps, 3: self.three_layer_steps}[n_layers],
            architecture=Architecture(n_layers=n_layers),
            n_hops=self.n_hops,
            batch_size=self.batch_size,
            record_every=self.record_every,
            test_size=self.test_size,
        )


PRESET = {
    "paper": Preset(Retrieval()),
    "smoke": Preset(
        Retrieval(
            counted_hops=45,
            constructed_layers=2,
            constructed_contexts=10,
            batch_size=32,
            two_layer_steps=20,
            three_layer_steps=20,
            test_size=16,
            exam_size=16,
        ),
        2,
    ),
}
