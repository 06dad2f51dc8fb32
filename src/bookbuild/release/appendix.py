"""The artifact appendix for a committee, written from the ledger and the timings."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.filesize import decimal as readable_size

from bookbuild.ledger.claims import Finding
from bookbuild.ledger.counts import told_verdicts
from bookbuild.ledger.records import Cost
from bookbuild.ledger.templates import render
from bookbuild.results.archive import Archive, Item
from bookbuild.source.citation import read_citation

NAME = "artifact-appendix.md"


def artifact_appendix(
    root: Path,
    archive: Archive,
    findings: Sequence[Finding],
    sizes: Mapping[str, int],
    costs: Mapping[str, Cost],
) -> str:
    """Return the appendix as Markdown: hardware, minutes, and a command for each claim."""
    chapters = {item.name: item for item in archive.of_kind("chapter")}
    made = [item.made for item in chapters.values()]
    minutes = sum(one["seconds"] for one in made) / 60
    machines = sorted({one.get("machine", "not recorded") for one in made})
    machines += sorted({one["gpu"] for one in made if "gpu" in one})
    found, _ = told_verdicts(findings)
    return render(
        "appendix.md",
        title=read_citation(root)["title"],
        archive=archive,
        chapters=chapters,
        minutes=f"{minutes:.0f}",
        machines=machines,
        memory=_memory(chapters),
        commits=sorted({one["commit"] for one in made}),
        versions=sorted({f"{name} {of}" for one in made for name, of in one["versions"].items()}),
        sizes={name: readable_size(size) for name, size in sizes.items()},
        verdicts=found,
        findings=[finding for finding in findings if finding.claim.chapter in chapters],
        costs=costs,
    )


def _memory(chapters: Mapping[str, Item]) -> str:
    """What the hungriest chapter held, alone and beside the next."""
    held = {name: item.made["memory"] for name, item in chapters.items() if "memory" in item.made}
    if len(held) < len(chapters):
        return "not recorded for all chapters"
    first, *others = sorted(held, key=held.__getitem__, reverse=True)
    alone = f"{readable_size(held[first])} in `{first}`"
    if not others:
        return alone
    two = held[first] + held[others[0]]
    return f"{alone}, the most; two chapters at once at most {readable_size(two)}"
