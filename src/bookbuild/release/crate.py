"""The release as a Process Run Crate: which execution made which file, of what, where and when."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bookbuild.results.archive import Archive, Item
from bookbuild.source.addresses import Addresses
from bookbuild.source.chapters import Chapter
from bookbuild.source.citation import article, citation, licence

NAME = "ro-crate-metadata.json"
CONTEXT = "https://w3id.org/ro/crate/1.1/context"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
PYTHON, ENGINE = "#python", "#papermill"


def crate(
    root: Path, archive: Archive, chapters: Sequence[Chapter], files: Mapping[str, str]
) -> dict[str, Any]:
    """Return the crate of a release.

    Args:
        root: the repository.
        archive: the published results; each chapter in it becomes an action.
        chapters: whose sources are the instruments.
        files: what else the release consists of, by name, with what it is.
    """
    cited, addresses = citation(root), Addresses.read(root)
    known = {chapter.name: chapter for chapter in chapters}
    items = [item for item in archive.of_kind("chapter") if item.name in known]
    sources = [_source(item, addresses) for item in items]
    outputs = {item.name: f"notebooks/book/{item.name}.ipynb" for item in items}
    author = {"@id": "#contributors"}
    published = max(item.made["date"] for item in items)
    return {
        "@context": CONTEXT,
        "@graph": [
            {
                "@id": NAME,
                "@type": "CreativeWork",
                "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
                "about": {"@id": "./"},
            },
            {
                "@id": "./",
                "@type": "Dataset",
                "name": cited["title"],
                "description": f"Results of {len(items)} executed chapters, with what made them.",
                "version": cited["version"],
                "datePublished": published,
                "license": {"@id": licence(cited)},
                "author": author,
                "publisher": author,
                "conformsTo": {"@id": PROFILE},
                "citation": {"@id": article(cited)["@id"]},
                "hasPart": [{"@id": name} for name in [*files, *outputs.values(), *sources]],
                "mentions": [{"@id": _action(item)} for item in items],
            },
            {
                "@id": PROFILE,
                "@type": "CreativeWork",
                "name": "Process Run Crate",
                "version": "0.5",
            },
            {
                "@id": licence(cited),
                "@type": "CreativeWork",
                "name": cited["license"],
                "description": "The licence of the book's code and text.",
            },
            {
                "@id": author["@id"],
                "@type": "Organization",
                "name": cited["authors"][0]["name"],
                "url": addresses.repository,
            },
            article(cited) | {"author": [_person(who) for who in article(cited)["author"]]},
            *(_person(who, whole=True) for who in article(cited)["author"]),
            {
                "@id": ENGINE,
                "@type": "SoftwareApplication",
                "name": "papermill, run by bookbuild",
                "url": "https://papermill.readthedocs.io",
                "softwareVersion": cited["version"],
            },
            *(_file(name, text) for name, text in files.items()),
            *(_file(outputs[item.name], known[item.name].title) for item in items),
            *(entity for item in items for entity in _execution(item, outputs, addresses, archive)),
        ],
    }


def write_crate(folder: Path, content: Mapping[str, Any]) -> None:
    """Write a crate's metadata into its folder."""
    text = json.dumps(content, indent=1, ensure_ascii=False)
    (folder / NAME).write_text(text + "\n", encoding="utf-8")


def _execution(
    item: Item, outputs: Mapping[str, str], addresses: Addresses, archive: Archive
) -> list[dict[str, Any]]:
    """Return the action that executed a chapter, its source and its parameters."""
    made = item.made
    source = _source(item, addresses)
    end = datetime.fromisoformat(made["date"])
    start = end - timedelta(seconds=made["seconds"])
    parameters = {"profile": archive.profile, "device": archive.device, "seed": archive.seed}
    return [
        {
            "@id": _action(item),
            "@type": "CreateAction",
            "name": f"Execution of {item.name}",
            "description": f"On {made.get('machine', 'an unnamed machine')}.",
            "startTime": start.isoformat(timespec="seconds"),
            "endTime": end.isoformat(timespec="seconds"),
            "actionStatus": "http://schema.org/CompletedActionStatus",
            "instrument": {"@id": ENGINE},
            "agent": {"@id": "#contributors"},
            "object": [
                {"@id": source},
                *({"@id": f"#{item.name}-{name}"} for name in parameters),
            ],
            "result": {"@id": outputs[item.name]},
        },
        {
            "@id": source,
            "@type": "File",
            "name": f"Source of {item.name}",
            "encodingFormat": "text/markdown",
        },
        *(
            {
                "@id": f"#{item.name}-{name}",
                "@type": "PropertyValue",
                "name": name,
                "value": str(value),
            }
            for name, value in parameters.items()
        ),
    ]


def _source(item: Item, addresses: Addresses) -> str:
    """Return the address of a chapter's source at the commit that was executed."""
    return addresses.source(item.name, item.made["commit"].partition(" ")[0])


def _action(item: Item) -> str:
    return f"#execution-{item.key}"


def _file(name: str, text: str) -> dict[str, Any]:
    formats = {
        ".ipynb": "application/x-ipynb+json",
        ".zip": "application/zip",
        ".gz": "application/gzip",
        ".pdf": "application/pdf",
        ".md": "text/markdown",
        ".json": "application/json",
    }
    return {
        "@id": name,
        "@type": "File",
        "name": text,
        "encodingFormat": formats.get(Path(name).suffix, "text/plain"),
    }


def _person(who: Mapping[str, str], *, whole: bool = False) -> dict[str, Any]:
    """Return a person of the graph, or what points to one."""
    name = f"{who['givenName']} {who['familyName']}"
    reference = {"@id": "#" + name.lower().replace(" ", "-")}
    return {**reference, **who, "name": name} if whole else reference
