"""What has been recorded once is not recorded otherwise: the history shows an edit by hand.

An entry has an identity and a content. An edit gives an identity that was recorded already another
content. A run that is made again was made by other code, so that it has another identity.
"""

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from reprlib import Repr
from typing import Any

from evidence.repository import WORKTREE, History

Pairs = Iterable[tuple[Hashable, str]]  # identities, and the content of each
Known = dict[Any, Any]  # what a commit knows

IDENTITY = ("chapter", "variation", "fingerprint")  # of an outcome
BRIEF = Repr()
BRIEF.maxstring = 120


def altered(root: Path, files: Mapping[str, Callable[[str], Pairs]], since: str) -> list[str]:
    """Return a sentence for each identity of a file that gets another content.

    Only commits that have the file `since` count, for before it the formats were others, and the
    working tree. Raises BookError where the history is not whole, and JSONDecodeError for a file
    of the working tree that is no JSON.
    """
    history = History(root, *files, since)
    present = history.files[WORKTREE]
    sentences = [f"{path} is not there, or no plain file" for path in {*files, since} - {*present}]
    for path, parse in files.items():
        list(parse(present[path]) if path in present else ())
        for commit, before, now in _recorded(history, path, parse, since):
            sentences += [
                f"{path}: {BRIEF.repr(name)} was recorded, and is otherwise in {_where(commit)}."
                for name, content in now.items()
                if any(parent.get(name, content) != content for parent in before)
            ]
    return sentences


def lost(root: Path, path: str, since: str) -> list[dict[str, Any]]:
    """Return the outcomes that a file once had and no longer has."""
    *_, (_, (recorded,), now) = _recorded(History(root, path, since), path, lines, since)
    return [json.loads(line) for identity, line in recorded.items() if identity not in now]


def _recorded(
    history: History, path: str, parse: Callable[[str], Pairs], since: str
) -> Iterator[tuple[str, list[Known], Known]]:
    """Yield commits with what each parent knows of a file, and what the file has now.

    What is gone is still known.
    """

    @cache
    def read(text: str) -> Known:
        try:
            return dict(parse(text))
        except json.JSONDecodeError:  # such as after a merge with conflicts
            return {}

    by_commit: dict[str, Known] = {}
    for commit, parents in history.parents.items():
        texts, before = history.files[commit], [by_commit[parent] for parent in parents]
        by_commit[commit] = {key: value for one in before for key, value in one.items()}
        if since in texts or by_commit[commit]:
            now = read(texts.get(path, ""))
            yield commit, before, now
            by_commit[commit] |= now


def _plain(text: str) -> Any:
    """Values of JSON in which equal numbers are written alike: 1 as 1.0, and -0.0 as 0.0."""

    def plain(number: str) -> float | str:
        return number.replace("Infinity", "inf") if number[-1:].isalpha() else float(number) + 0.0

    return json.loads(text, parse_int=plain, parse_float=plain, parse_constant=plain)


def stored_entries(text: str) -> Iterator[tuple[Hashable, str]]:
    """Yield the entries of a file of stored runs, by configuration with code and with date."""
    for entry in _plain(text):
        for name in ("code", "date"):
            yield _canonical([entry["configuration"], name, entry[name]]), _canonical(entry)


def lines(text: str) -> Iterator[tuple[Hashable, str]]:
    """Yield the outcomes of the record by chapter, code and variation."""
    for line in filter(str.strip, text.split("\n")):
        content = json.loads(line)
        if content["line"] == "outcome":
            yield _canonical({name: content[name] for name in IDENTITY}), line


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _where(commit: str) -> str:
    return commit if commit == WORKTREE else f"commit {commit[:12]}"
