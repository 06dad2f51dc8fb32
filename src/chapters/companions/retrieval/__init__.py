"""The retrieval problem: facts that form chains, and how many layers it takes to follow one."""

from dataclasses import dataclass, replace

from .model import Architecture
from .training import RetrievalTraining


@dataclass(frozen=True)
class Retrieval:
    """Chains of four facts: two layers of forward merging reach three, three reach seven.

    Ours throughout, since the source's abstract gives no sizes; the least that learn fast on one
    processor core. Other depths and questions are stored (`k_hop`), at the same sizes.
    """

    n_hops: int = 4
    n_layers: int = 3
    dim: int = 64  # and as many ReLUs
    batch_size: int = 32  # contexts, each with a question a chain: 96 questions
    steps: int = 750  # a quarter more than the slowest run of the stored mixture
    record_every: int = 25
    test_size: int = 48
    exam_size: int = 200  # contexts, 600 questions: standard error of an accuracy below 0.02
    shallow_layers: int = 2  # of the network that four facts just fit
    shallow_steps: int = 4000  # at most; four times what its stored runs took

    def training(self) -> RetrievalTraining:
        """Training on mixed questions, each look taken away in turn at each record."""
        network = Architecture(
            self.n_layers, dim=self.dim, hidden=self.dim, vocabulary=3 * (self.n_hops + 1)
        )
        return RetrievalTraining(
            stages=(tuple(range(1, self.n_hops + 1)),),
            steps=self.steps,
            architecture=network,
            n_hops=self.n_hops,
            batch_size=self.batch_size,
            warm_up=min(100, self.steps),
            final_share=1.0,
            record_every=self.record_every,
            test_size=self.test_size,
            causal=True,
        )

    def shallow(self) -> RetrievalTraining:
        """The same with fewer layers, until all questions are learned."""
        run = self.training()
        network = replace(run.architecture, n_layers=self.shallow_layers)
        return replace(
            run, steps=self.shallow_steps, until=0.95, causal=False, architecture=network
        )
