"""The release as a Process Run Crate, which says how, where and when each file was made."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from rocrate.model.contextentity import ContextEntity
from rocrate.model.entity import Entity
from rocrate.model.person import Person
from rocrate.model.softwareapplication import SoftwareApplication
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
    ".pdf": "application/pdf",
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
    """Write the description of a release into its folder.

    Args:
        folder: of the release, with its notebooks in it.
        settings: of the build, with the folder of the repository.
        entries: the executed chapters by name; each becomes an action.
        chapters: whose sources are the instruments.
        files: what else the release consists of, by name, with what it is.
    """
    cited, addresses = read_citation(settings.root), Addresses.read(settings.root)
    crate = ROCrate(version="1.1")

    def add(identifier: str, kind: str, **said: Any) -> Entity:
        return crate.add(ContextEntity(crate, identifier, {"@type": kind, **said}))

    contributors = add(
        "#contributors", "Organization", name="; ".join(names(cited)), url=addresses.repository
    )
    terms = add(licence(cited), "CreativeWork", name=cited["license"])
    terms["description"] = "The licence of the book's code and text."
    profile = add(PROFILE, "CreativeWork", name="Process Run Crate", version="0.5")
    paper = article(cited)
    authors = [
        crate.add(Person(crate, f"#{who['familyName'].lower()}", who)) for who in paper["author"]
    ]
    source = add(paper["@id"], paper["@type"], **{k: paper[k] for k in ("name", "version")})
    source["datePublished"], source["author"] = paper["datePublished"], authors
    crate.root_dataset.properties().update(
        name=cited["title"],
        description=f"Results of {len(entries)} executed chapters, with what made them.",
        version=cited["version"],
        datePublished=max(entry.origin["date"] for entry in entries.values()),
    )
    for key, entity in (
        ("license", terms), ("author", contributors), ("publisher", contributors),
        ("conformsTo", profile), ("citation", source),
    ):  # fmt: skip
        crate.root_dataset[key] = entity
    engine = crate.add(SoftwareApplication(crate, "#papermill"))
    engine["name"] = "papermill, run by bookbuild"
    engine["url"], engine["softwareVersion"] = "https://papermill.readthedocs.io", cited["version"]
    for name, text in files.items():
        crate.add_file(folder / name, name, properties=_described(name, text))
    for chapter in chapters:
        entry, notebook = entries[chapter.name], f"notebooks/book/{chapter.name}.ipynb"
        said = _described(notebook, chapter.title)
        made = crate.add_file(folder / notebook, notebook, properties=said)
        at = addresses.source(chapter.name, entry.origin["commit"].partition(" ")[0])
        text = crate.add_file(at, properties=_described(".md", f"Source of {chapter.name}"))
        given = [
            add(f"#{chapter.name}-{name}", "PropertyValue", name=name, value=str(value))
            for name, value in settings.parameters.items()
        ]
        action = crate.add_action(
            engine, f"#execution-{entry.key}", [text, *given], made, _executed(chapter.name, entry)
        )
        action["agent"] = contributors
    crate.metadata.write(folder)


def _described(name: str, text: str) -> dict[str, str]:
    """Return what is said of a file."""
    suffix = Path(name).suffix or name
    return {"name": text, "encodingFormat": FORMATS.get(suffix, "text/plain")}


def _executed(name: str, entry: Entry) -> dict[str, str]:
    """Return what is said of the execution of a chapter."""
    end = datetime.fromisoformat(entry.origin["date"])
    start = end - timedelta(seconds=entry.origin["seconds"])
    return {
        "name": f"Execution of {name}",
        "description": f"On {entry.origin['machine']}.",
        "startTime": start.isoformat(timespec="seconds"),
        "endTime": end.isoformat(timespec="seconds"),
        "actionStatus": "http://schema.org/CompletedActionStatus",
    }
