"""A Sphinx extension that leaves pages as they are where nothing in them can have changed.

Sphinx writes the pages that it has read, and no others of a site that is there. But pages show
titles, numbers and addresses of each other, so all are written if one of these has changed.
"""

from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from bookbuild.results.keys import digest
from bookbuild.site.seal import digest_of

from .symbols import GLOSSARY

TOLD = "told"  # beside what Sphinx keeps of its reading
# what pages tell of each other: of the environment, and of its domains
TABLES = (
    "titles", "longtitles", "tocs", "toc_num_entries", "toc_secnumbers", "toc_fignumbers",
    "toctree_includes", "files_to_rebuild", "images", "dlfiles", "proof_list",
)  # fmt: skip
DOMAINS = {"cite": ("citation_refs",), "index": None, "math": None, "py": None, "std": None}
AFTER_NUMBERS = 900  # Sphinx numbers figures at the same event, with priority 500
IMAGES = "_images"


def outdated(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the pages that are to be written though they are as they were."""
    path = Path(app.doctreedir, TOLD)
    now = told(app, env)
    settled = path.is_file() and path.read_text(encoding="ascii") == now
    path.write_text(now, encoding="ascii")
    # the search's index, begun with the one that is there, has lost the entries of these
    indexed = [page for page, entries in env.domaindata["index"]["entries"].items() if entries]
    return sorted(indexed if settled else env.found_docs)


def told(app: Sphinx, env: BuildEnvironment) -> str:
    """Return a digest of what pages tell of each other."""
    domains = {
        name: {key: env.domaindata[name][key] for key in keys or env.domaindata[name]}
        for name, keys in DOMAINS.items()
    }
    read = [Path(app.srcdir, f"{GLOSSARY}.md"), *Path(app.outdir).parent.rglob("*.glue.json")]
    return digest(
        {
            "tables": [plain(getattr(env, name, None)) for name in TABLES],
            "domains": plain(domains),
            "files": digest_of(sorted(filter(Path.is_file, read)), Path("/")),
        }
    )


def plain(value: Any) -> Any:
    """Return what stands for a value, whatever the order in which a table was filled."""
    if isinstance(value, nodes.Node):
        return value.pformat()
    if isinstance(value, Mapping):
        return sorted([repr(key), plain(held)] for key, held in value.items())
    if isinstance(value, Set):
        return sorted(map(repr, value))
    if isinstance(value, list | tuple):
        return list(map(plain, value))
    return repr(value)


def forget(app: Sphinx) -> list[Any]:
    """Take words that no page holds any more out of the search's index; add no page."""
    index = getattr(app.builder, "indexer", None)
    for words in (index._mapping, index._title_mapping) if index else ():
        for word in [word for word, pages in words.items() if not pages]:
            del words[word]
    return []


def tidy(app: Sphinx, exception: Exception | None) -> None:
    """Remove the images that no page shows any more."""
    if exception:
        return
    shown = {name for _, name in app.env.images.values()}
    for path in Path(app.outdir, IMAGES).glob("*"):
        if path.name not in shown:
            path.unlink()


def setup(app: Sphinx) -> dict[str, bool]:
    """Look once all has been read and numbered, and again at the end."""
    app.connect("env-get-updated", outdated, priority=AFTER_NUMBERS)
    app.connect("html-collect-pages", forget)
    app.connect("build-finished", tidy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
