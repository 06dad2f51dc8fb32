"""The networks of Figures 2 to 5 as files of a release: python -m tools.checkpoints PROFILE.

A build has kept the trainings of Figures 2, 3 and 5; those of Figure 4 are repeated, for their last
weights. `emergence.training.load` reads the files.
"""

import sys
from dataclasses import replace
from pathlib import Path

import torch

from bookbuild.results.cache import StoredCache, order_of
from bookbuild.settings import BuildSettings, resolve_device
from chapters.paper import emergence, full_dynamics, induction_heads, training_dynamics
from chapters.paper.induction_heads.products import MOMENTS, Pictures, rounding_to_zero
from emergence.experiments.captions import constrained
from emergence.presets import choose
from emergence.running import cache
from emergence.training import Run, save, train_minimal, train_tokens

from .this_book import ROOT

FOLDER = Path("release", "checkpoints")  # below the folder of builds


def write(settings: BuildSettings) -> list[Path]:
    """Write the networks of all seeds, and of Figure 2 that of the first seed; return the files."""
    folder = settings.build / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    device = torch.device(settings.device)
    runs: dict[str, Run] = {}

    preset = choose(induction_heads.PRESET, settings.profile)
    run, seed = preset.settings, preset.seeds(settings.seed)[0]
    with rounding_to_zero():
        pictures = Pictures(max(1, run.steps // MOMENTS))
        record = train_tokens(run, seed, device=device, read=pictures, label="Figure 2")
    runs["figure_2"] = Run(run, (seed,), (record,))

    preset = choose(training_dynamics.PRESET, settings.profile)
    seeds = preset.seeds(settings.seed)
    weights = preset.settings.training
    runs["figure_3"] = Run(weights, seeds, train_minimal(weights, seeds, device=device))

    preset = choose(emergence.PRESET, settings.profile)
    full = preset.settings.training
    alone = constrained(replace(full, initial_scale=0.0, snapshots=()))
    seeds = preset.seeds(settings.seed)
    for name, trained in {"figure_4": full, "figure_4_three_parameters": alone}.items():
        ends = replace(trained, snapshots=tuple(sorted({*trained.snapshots, trained.steps})))
        runs[name] = Run(ends, seeds, train_minimal(ends, seeds, device=device, label=name))

    preset = choose(full_dynamics.PRESET, settings.profile)
    for n_pairs in preset.settings.sampled_pairs:  # of three parameters, whose path is the record
        sampled, first = preset.settings.training(n_pairs), preset.seeds(settings.seed)[:1]
        runs[f"figure_5_n_{n_pairs}"] = Run(
            sampled, first, train_minimal(sampled, first, device=device)
        )

    for name, each in runs.items():
        save(each, folder / f"{name}.pt")
    return sorted(folder.glob("*.pt"))


if __name__ == "__main__":
    profile = sys.argv[1] if sys.argv[1:] else "paper"
    build = BuildSettings(ROOT, profile=profile, device=resolve_device("auto"))
    torch.set_num_threads(1)  # as runs of a sweep have it: another number rounds otherwise
    with cache.attached(StoredCache.ordered(order_of(build, {}))):
        for path in write(build):
            print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e6:.1f} MB")
