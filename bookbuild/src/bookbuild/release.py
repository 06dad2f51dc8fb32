"""A release: one folder with everything in it, described as a Process Run Crate.

The description says how, where and when each file was made.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from rocrate.rocrate import ROCrate

from bookbuild.execution.display import Display
from bookbuild.notebooks.publish import committed, write_branch
from bookbuild.pipeline import build_book, run_chapters
from bookbuild.results.archive import NAME as RESULTS
from bookbuild.results.archive import write_archive
from bookbuild.results.executed import Entry
from bookbuild.settings import Settings
from bookbuild.source.addresses import Addresses
from bookbuild.source.chapters import Chapter, read_chapters, read_toc
from bookbuild.source.citation import SOURCE, names, paper, read_citation

SITE, NOTEBOOKS, CHANGES, CRATE = "site.zip", "notebooks", "CHANGELOG.md", "ro-crate-metadata.json"
PARTS = {
    RESULTS: "What chapters measured and computed: numbers only, with a manifest",
    f"{RESULTS}.sha256": "The SHA-256 of the results",
    SITE: "The site, to be unpacked and read without a server",
    SOURCE: "How to cite",
    CHANGES: "What has changed",
}
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
FORMATS = {
    ".ipynb": "application/x-ipynb+json",
    ".zip": "application/zip",
    ".md": "text/markdown",
}


def write_release(settings: Settings, display: Display, tell: Callable[[str], None]) -> Path:
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
    write_crate(folder, settings, entries, chapters)
    shutil.make_archive(str(folder), "zip", folder)  # whole, as a stranger gets it
    return folder


def write_crate(
    folder: Path, settings: Settings, entries: Mapping[str, Entry], chapters: Sequence[Chapter]
) -> None:
    """Write the description of a release into its folder, which has its notebooks in it.

    The sources of `chapters` are the instruments, and each executed one of `entries` is an action.
    """
    cited, addresses = read_citation(settings.root), Addresses.read(settings.root)
    crate = ROCrate(version="1.1")

    def add(described: Mapping[str, object]) -> dict[str, object]:
        crate.add_jsonld(dict(described))
        return {"@id": described["@id"]}

    group = {"@id": "#contributors", "@type": "Organization", "name": "; ".join(names(cited))}
    contributors = add({**group, "url": addresses.repository})
    terms = {"@id": f"https://spdx.org/licenses/{cited['license']}", "@type": "CreativeWork"}
    terms |= {"name": cited["license"], "description": "The licence of the book's code and text."}
    source = paper(cited)
    article = {"@id": source["url"], "@type": "ScholarlyArticle", "name": source["title"]}
    article |= {"datePublished": str(source["year"]), "version": source.get("notes", "")}
    authors = [
        add({"@id": f"#{who['family-names'].lower()}", "@type": "Person",
             "givenName": who["given-names"], "familyName": who["family-names"]})
        for who in source["authors"]
    ]  # fmt: skip
    profile = {"@id": PROFILE, "@type": "CreativeWork", "name": "Process Run Crate"}
    crate.root_dataset.properties().update(
        name=cited["title"],
        description=f"Results of {len(entries)} executed chapters, with what made them.",
        version=cited["version"],
        datePublished=max(entry.origin["date"] for entry in entries.values()),
        license=add(terms),
        author=contributors,
        publisher=contributors,
        conformsTo=add({**profile, "version": "0.5"}),
        citation=add({**article, "author": authors}),
    )
    papermill = {"@id": "#papermill", "@type": "SoftwareApplication"}
    papermill |= {"name": "papermill, run by bookbuild", "softwareVersion": cited["version"]}
    engine = add({**papermill, "url": "https://papermill.readthedocs.io"})
    for name, text in PARTS.items():
        crate.add_file(folder / name, name, properties=_described(name, text))
    for chapter in chapters:
        entry, notebook = entries[chapter.name], f"notebooks/book/{chapter.name}.ipynb"
        described = _described(notebook, chapter.title)
        result = crate.add_file(folder / notebook, notebook, properties=described)
        at = addresses.source(chapter.name, entry.origin["commit"].partition(" ")[0])
        text = crate.add_file(at, properties=_described(".md", f"Source of {chapter.name}"))
        inputs = [text]
        for name, value in settings.parameters.items():
            parameter = {"@id": f"#{chapter.name}-{name}", "@type": "PropertyValue"}
            inputs.append(add({**parameter, "name": name, "value": str(value)}))
        end = datetime.fromisoformat(entry.origin["date"])
        start = end - timedelta(seconds=entry.origin["seconds"])
        executed = {
            "name": f"Execution of {chapter.name}",
            "description": f"On {entry.origin['machine']}.",
            "startTime": start.isoformat(timespec="seconds"),
            "endTime": end.isoformat(timespec="seconds"),
            "actionStatus": "http://schema.org/CompletedActionStatus",
            "agent": contributors,
        }
        crate.add_action(engine, f"#execution-{entry.key}", inputs, result, executed)
    crate.metadata.write(folder)


def _described(name: str, text: str) -> dict[str, str]:
    """Return what is said of a file."""
    suffix = Path(name).suffix or name
    return {"name": text, "encodingFormat": FORMATS.get(suffix, "text/plain")}
