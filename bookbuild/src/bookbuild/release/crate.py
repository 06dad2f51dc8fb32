"""The release as a Process Run Crate, which says how, where and when each file was made."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from rocrate.rocrate import ROCrate

from bookbuild.results.executed import Entry
from bookbuild.settings import Settings
from bookbuild.source.addresses import Addresses
from bookbuild.source.chapters import Chapter
from bookbuild.source.citation import article, licence, names, read_citation

NAME = "ro-crate-metadata.json"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
FORMATS = {
    ".ipynb": "application/x-ipynb+json",
    ".zip": "application/zip",
    ".md": "text/markdown",
    ".json": "application/json",
}


def write_crate(
    folder: Path,
    settings: Settings,
    entries: Mapping[str, Entry],
    chapters: Sequence[Chapter],
    files: Mapping[str, str],
) -> None:
    """Write the description of a release into its folder, which has its notebooks in it.

    The sources of `chapters` are the instruments, and each executed one of `entries` is an action.
    `files` are what else the release consists of, by name, with what it is.
    """
    cited, addresses = read_citation(settings.root), Addresses.read(settings.root)
    crate = ROCrate(version="1.1")

    def add(described: Mapping[str, object]) -> dict[str, object]:
        crate.add_jsonld(dict(described))
        return {"@id": described["@id"]}

    group = {"@id": "#contributors", "@type": "Organization", "name": "; ".join(names(cited))}
    contributors = add({**group, "url": addresses.repository})
    terms = {"@id": licence(cited), "@type": "CreativeWork", "name": cited["license"]}
    paper = article(cited)
    authors = [add({**who, "@id": f"#{who['familyName'].lower()}"}) for who in paper["author"]]
    profile = {"@id": PROFILE, "@type": "CreativeWork", "name": "Process Run Crate"}
    crate.root_dataset.properties().update(
        name=cited["title"],
        description=f"Results of {len(entries)} executed chapters, with what made them.",
        version=cited["version"],
        datePublished=max(entry.origin["date"] for entry in entries.values()),
        license=add({**terms, "description": "The licence of the book's code and text."}),
        author=contributors,
        publisher=contributors,
        conformsTo=add({**profile, "version": "0.5"}),
        citation=add({**paper, "author": authors}),
    )
    papermill = {"@id": "#papermill", "@type": "SoftwareApplication"}
    papermill |= {"name": "papermill, run by bookbuild", "softwareVersion": cited["version"]}
    engine = add({**papermill, "url": "https://papermill.readthedocs.io"})
    for name, text in files.items():
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
