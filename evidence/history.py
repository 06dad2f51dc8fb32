"""What has been recorded once is not recorded otherwise: the history shows an edit by hand.

An entry has an identity and a content. An edit gives an identity that was recorded already another
content, while a run that is made again has another date, and thus another identity.
"""

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from pathlib import Path
from reprlib import Repr
from typing import Any

from evidence.repository import WORKTREE, History

Pairs = Iterable[tuple[Hashable, str]]  # identities, and the content of each

# what a line does not say to be identified
OUTCOME = ("values", "fates", "smoke", "bits", "constants", "digest", "seconds", "machine")
BRIEF = Repr()
BRIEF.maxstring = 120


def altered(root: Path, files: Mapping[str, Callable[[str], Pairs]], since: str) -> list[str]:
    """Return a sentence for each identity of a file that has had more than one content.

    Only commits that have the file `since` count, for before it the formats were others, and the
    working tree. Raises BookError where the history is not whole.
    """
    history = History(root, *files, since)
    held = [(commit, texts) for commit, texts in history.files.items() if since in texts]
    found: list[str] = []
    for path, parse in files.items():
        first: dict[str, str] = {}  # the first commit with each text that the file ever had
        for commit, texts in held:
            if path in texts:
                first.setdefault(texts[path], commit)
        known: dict[Hashable, tuple[str, str]] = {}
        differing: dict[Hashable, str] = {}
        for text, commit in first.items():
            for identity, content in _pairs(parse, text):
                if known.setdefault(identity, (content, commit))[0] != content:
                    differing.setdefault(identity, commit)
        found += (
            f"{path}: {BRIEF.repr(identity)} was recorded in {_where(known[identity][1])},"
            f" and is otherwise since {_where(commit)}."
            for identity, commit in differing.items()
        )
    return found


def lost(root: Path, path: str, since: str) -> list[str]:
    """Return what identified lines of a file that it once had and no longer has, as `altered`."""
    history = History(root, path, since)
    texts = {held[path] for held in history.files.values() if since in held and path in held}
    now = (root / path).read_text(encoding="utf-8")
    known = {str(identity) for text in texts for identity, _ in _pairs(lines, text)}
    return sorted(known - {str(identity) for identity, _ in lines(now)})


def runs(text: str) -> Iterator[tuple[Hashable, str]]:
    """Yield the entries of a file of stored runs by configuration and date."""
    for entry in json.loads(text):
        configuration, date = entry.pop("configuration"), entry.pop("date")
        yield (_canonical(configuration), date), _canonical(entry)


def lines(text: str) -> Iterator[tuple[Hashable, str]]:
    """Yield the lines of a file, an object each, by all that they say but its outcome."""
    for line in filter(str.strip, text.split("\n")):
        identity = {name: value for name, value in json.loads(line).items() if name not in OUTCOME}
        yield _canonical(identity), line


def _pairs(parse: Callable[[str], Pairs], text: str) -> Pairs:
    """What a text records; nothing where it is no JSON, such as after a merge with conflicts."""
    try:
        return list(parse(text))
    except json.JSONDecodeError:
        return []


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _where(commit: str) -> str:
    return commit if commit == WORKTREE else f"commit {commit[:12]}"
