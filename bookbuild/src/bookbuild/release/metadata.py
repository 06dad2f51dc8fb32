"""What describes the book to archives and committees: CodeMeta, Zenodo, the artifact appendix."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.filesize import decimal as readable_size

from bookbuild.ledger.claims import Finding
from bookbuild.ledger.counts import told_verdicts
from bookbuild.ledger.records import Cost
from bookbuild.ledger.templates import render
from bookbuild.results.archive import NAME as RESULTS
from bookbuild.results.executed import Entry
from bookbuild.settings import Settings
from bookbuild.source.addresses import Addresses
from bookbuild.source.citation import agents, article, licence, names, paper, read_citation

CODEMETA, ZENODO, APPENDIX = "codemeta.json", "zenodo.json", "artifact-appendix.md"


def codemeta(root: Path) -> dict[str, Any]:
    """Return the book as CodeMeta 3.0 describes software."""
    cited, addresses = read_citation(root), Addresses.read(root)
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {
        "@context": "https://w3id.org/codemeta/3.0",
        "@type": "SoftwareSourceCode",
        "name": cited["title"],
        "description": project["description"],
        "version": cited["version"],
        "license": licence(cited),
        "author": agents(cited["authors"]),
        "dateModified": str(cited["date-released"]),
        "keywords": cited.get("keywords", []),
        "codeRepository": addresses.repository,
        "issueTracker": f"{addresses.repository}/issues",
        "continuousIntegration": f"{addresses.repository}/actions",
        "url": addresses.site,
        "programmingLanguage": [{"@type": "ComputerLanguage", "name": "Python"}],
        "runtimePlatform": f"Python {project['requires-python']}",
        "softwareRequirements": sorted(project["dependencies"]),
        "developmentStatus": "active",
        "referencePublication": article(cited),
    }


def zenodo(root: Path) -> dict[str, Any]:
    """Return the book as Zenodo describes an upload."""
    cited, addresses = read_citation(root), Addresses.read(root)
    said = paper(cited)
    links = ((said["url"], "isSupplementTo"), (addresses.repository, "isDerivedFrom"))
    return {
        "title": cited["title"],
        "upload_type": "software",
        "description": f"<p>{codemeta(root)['description']}.</p><p>{said.get('notes', '')}</p>",
        "creators": [{"name": name} for name in names(cited)],
        "version": cited["version"],
        "license": cited["license"],
        "access_right": "open",
        "keywords": cited.get("keywords", []),
        "related_identifiers": [{"identifier": to, "relation": how} for to, how in links],
    }


def artifact_appendix(
    settings: Settings,
    entries: Mapping[str, Entry],
    findings: Sequence[Finding],
    files: Sequence[Path],
    costs: Mapping[str, Cost],
) -> str:
    """Return the appendix as Markdown: hardware, minutes, and a command for each claim."""
    origins = [entry.origin for entry in entries.values()]
    machines = {origin.get("machine", "not recorded") for origin in origins}
    versions = {pair for origin in origins for pair in origin["versions"].items()}
    return render(
        "appendix.md",
        title=read_citation(settings.root)["title"],
        results=RESULTS,
        device=settings.device,
        chapters=entries,
        minutes=f"{sum(origin['seconds'] for origin in origins) / 60:.0f}",
        machines=sorted(machines | {origin["gpu"] for origin in origins if "gpu" in origin}),
        memory=readable_size(max(origin.get("memory", 0) for origin in origins)),
        commits=sorted({origin["commit"] for origin in origins}),
        versions=sorted(" ".join(pair) for pair in versions),
        sizes={path.name: readable_size(path.stat().st_size) for path in files},
        verdicts=told_verdicts(findings)[0],
        findings=[finding for finding in findings if finding.claim.chapter in entries],
        costs=costs,
    )
