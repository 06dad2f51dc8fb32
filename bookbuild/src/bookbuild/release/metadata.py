"""What describes the book to archives: CodeMeta and a deposit on Zenodo, from CITATION.cff."""

import tomllib
from pathlib import Path
from typing import Any

from bookbuild.source.addresses import Addresses
from bookbuild.source.citation import agents, article, licence, names, paper, read_citation

CODEMETA, ZENODO = "codemeta.json", "zenodo.json"


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
