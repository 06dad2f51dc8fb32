"""A release: one folder with everything in it, described from CITATION.cff, and its deposit.

Zenodo gives a deposit one DOI: https://developers.zenodo.org. It stays a draft. Someone looks at it
there and publishes it, for a published record cannot be taken back.
"""

import json
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import requests

from bookbuild.errors import BookError
from bookbuild.execution.display import Display
from bookbuild.notebooks.publish import committed, write_branch
from bookbuild.pipeline import build_book, run_chapters
from bookbuild.results.archive import NAME as RESULTS
from bookbuild.results.archive import write_archive
from bookbuild.settings import Settings
from bookbuild.source.addresses import Addresses
from bookbuild.source.chapters import read_chapters, read_toc
from bookbuild.source.citation import SOURCE, agents, article, licence, names, paper, read_citation

from .crate import write_crate

SITE, NOTEBOOKS, CHANGES = "site.zip", "notebooks", "CHANGELOG.md"
CODEMETA, ZENODO = "codemeta.json", "zenodo.json"
SERVER = "https://zenodo.org"
PATIENCE = 600  # seconds without an answer
PARTS = {
    RESULTS: "What chapters measured and computed: numbers only, with a manifest",
    f"{RESULTS}.sha256": "The SHA-256 of the results",
    SITE: "The site, to be unpacked and read without a server",
    SOURCE: "How to cite",
    CODEMETA: "The book as CodeMeta describes software",
    ZENODO: "The book as Zenodo describes an upload",
    CHANGES: "What has changed",
}


def release(settings: Settings, display: Display, tell: Callable[[str], None]) -> Path:
    """Build the book and write the release's folder; raise BookError where that fails.

    The tree has no uncommitted change, for notebooks and provenance name the commit.
    """
    committed(settings.root)
    folder = settings.build / "release"
    shutil.rmtree(folder, ignore_errors=True)
    chapters = read_chapters(settings.root, read_toc(settings.root))
    build_book(settings, display, tell)
    stored, executed = run_chapters(chapters, settings, display, tell)
    entries = stored | executed
    write_branch(folder / NOTEBOOKS, chapters, entries, settings)
    write_archive(folder / RESULTS, chapters, settings)
    shutil.make_archive(
        str((folder / SITE).with_suffix("")), "zip", settings.site.parent, settings.site.name
    )
    for name in (SOURCE, CHANGES):
        shutil.copy2(settings.root / name, folder / name)
    for name, described in ((CODEMETA, codemeta(settings.root)), (ZENODO, zenodo(settings.root))):
        text = json.dumps(described, indent=2, ensure_ascii=False) + "\n"
        (folder / name).write_text(text, encoding="utf-8")
    write_crate(folder, settings, entries, chapters, PARTS)
    shutil.make_archive(str(folder), "zip", folder)  # whole, as a stranger gets it
    return folder


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


def deposit_release(folder: Path, token: str) -> tuple[str, str]:
    """Upload what `release` has written as a draft; return its page on Zenodo and its DOI to be.

    The token has the scopes deposit:write and deposit:actions. Raises BookError where there is no
    release, or the server refuses.
    """
    whole = folder.with_suffix(".zip")
    if not whole.is_file():
        raise BookError("There is no release to deposit yet: run make release first.")
    said = json.loads((folder / ZENODO).read_text(encoding="utf-8"))
    with requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {token}"
        draft = _asked(session, "POST", f"{SERVER}/api/deposit/depositions", json={})
        for path in (whole, *sorted(folder.glob("*.zip"))):
            with path.open("rb") as content:
                _asked(session, "PUT", f"{draft['links']['bucket']}/{path.name}", data=content)
        _asked(session, "PUT", draft["links"]["self"], json={"metadata": said})
    return draft["links"]["html"], draft["metadata"]["prereserve_doi"]["doi"]


def _asked(session: requests.Session, method: str, address: str, **content: Any) -> Any:
    """Return what the server answers; raise BookError where it refuses or is not reached."""
    try:
        answer = session.request(method, address, timeout=PATIENCE, **content)
        answer.raise_for_status()
        return answer.json()
    except (requests.RequestException, ValueError) as error:
        raise BookError(f"The deposit failed, and its draft is not complete: {error}.") from error
