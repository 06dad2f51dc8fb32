"""The artifact appendix for a committee, written from the ledger and the timings."""

from collections.abc import Mapping, Sequence

from rich.filesize import decimal as readable_size

from bookbuild.ledger.claims import Finding
from bookbuild.ledger.counts import told_verdicts
from bookbuild.ledger.records import Cost
from bookbuild.ledger.templates import render
from bookbuild.results.archive import NAME as RESULTS
from bookbuild.results.executed import Entry
from bookbuild.settings import Settings
from bookbuild.source.citation import read_citation

NAME = "artifact-appendix.md"


def artifact_appendix(
    settings: Settings,
    entries: Mapping[str, Entry],
    findings: Sequence[Finding],
    sizes: Mapping[str, int],
    costs: Mapping[str, Cost],
) -> str:
    """Return the appendix as Markdown: hardware, minutes, and a command for each claim."""
    made = [entry.origin for entry in entries.values()]
    minutes = sum(one["seconds"] for one in made) / 60
    machines = sorted({one.get("machine", "not recorded") for one in made})
    machines += sorted({one["gpu"] for one in made if "gpu" in one})
    found, _ = told_verdicts(findings)
    return render(
        "appendix.md",
        title=read_citation(settings.root)["title"],
        results=RESULTS,
        device=settings.device,
        chapters=entries,
        minutes=f"{minutes:.0f}",
        machines=machines,
        memory=_memory(entries),
        commits=sorted({one["commit"] for one in made}),
        versions=sorted({f"{name} {of}" for one in made for name, of in one["versions"].items()}),
        sizes={name: readable_size(size) for name, size in sizes.items()},
        verdicts=found,
        findings=[finding for finding in findings if finding.claim.chapter in entries],
        costs=costs,
    )


def _memory(entries: Mapping[str, Entry]) -> str:
    """What the hungriest chapter held, alone and beside the next."""
    held = {name: e.origin["memory"] for name, e in entries.items() if "memory" in e.origin}
    if len(held) < len(entries):
        return "not recorded for all chapters"
    first, *others = sorted(held, key=held.__getitem__, reverse=True)
    alone = f"{readable_size(held[first])} in `{first}`"
    if not others:
        return alone
    two = held[first] + held[others[0]]
    return f"{alone}, the most; two chapters at once at most {readable_size(two)}"
