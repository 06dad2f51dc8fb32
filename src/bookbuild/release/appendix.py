"""The artifact appendix: what a committee is told, from the ledger and the timings."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.filesize import decimal as readable_size

from bookbuild.ledger.claims import Finding
from bookbuild.ledger.counts import told_verdicts
from bookbuild.ledger.records import Cost
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
    (head, *rows), _ = told_verdicts(findings)
    return "\n".join(
        [
            f"# Artifact appendix of *{read_citation(root)['title']}*",
            "",
            "Generated with the release, from the ledger of claims and the recorded timings.",
            "",
            "| | |",
            "|---|---|",
            f"| Executed on | {'; '.join(machines)}; device {archive.device} |",
            f"| Chapters | {len(chapters)}, {minutes:.0f} minutes of execution in all |",
            f"| Memory | {_memory(chapters)} |",
            f"| Commit | {', '.join(sorted({one['commit'] for one in made}))} |",
            f"| Software | {_versions(made)} |",
            *(f"| {name} | {readable_size(size)} |" for name, size in sizes.items()),
            "",
            "## Three checks",
            "",
            "| question | command | time on two cores |",
            "|---|---|---|",
            "| Is the archive sound, and does a random sample come out again? "
            f"| `make verify RESULTS={archive.path.name}` | 5 minutes |",
            "| Does the site follow from the results? "
            f"| `make reproduce RESULTS={archive.path.name}` | 2 minutes |",
            f"| Do the results follow from the code? | `make reproduce` | {minutes:.0f} minutes |",
            "",
            "## Verdicts",
            "",
            _row(head),
            _row(["---"] * len(head)),
            *map(_row, rows),
            "",
            "## A command for each claim",
            "",
            "`make chapter CHAPTER=…` recomputes the chapter in which a claim is measured. Minutes "
            "are those of the published run, with trainings where they were not stored. With "
            "`FROM=scratch` the stored values that the chapter reads are computed again as well, "
            "in so many minutes of one core.",
            "",
            "| claim | source | verdict | chapter | minutes | from scratch |",
            "|---|---|---|---|---|---|",
            *(
                _row(
                    [
                        finding.claim.id,
                        finding.claim.source,
                        finding.verdict,
                        f"`{finding.claim.chapter}`",
                        f"{chapters[finding.claim.chapter].made['seconds'] / 60:.1f}",
                        f"{costs[finding.claim.chapter].minutes:.1f}, "
                        f"{costs[finding.claim.chapter].how}",
                    ]
                )
                for finding in findings
                if finding.claim.chapter in chapters
            ),
            "",
        ]
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


def _versions(made: Sequence[Mapping[str, Mapping[str, str]]]) -> str:
    versions = {pair for one in made for pair in one["versions"].items()}
    return ", ".join(f"{name} {version}" for name, version in sorted(versions))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
