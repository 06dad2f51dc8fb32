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

IDENTITY = ("chapter", "variation", "fingerprint", "of")  # of an outcome
SAME = ("smoke", "bits", "constants", "machine")  # what codes in `same` make
BRIEF = Repr()
BRIEF.maxstring = 120


def altered(root: Path, files: Mapping[str, Callable[[str], Pairs]], since: str) -> list[str]:
    """Return a sentence for each identity of a file that has had more than one content.

    Only commits that have the file `since` count, for before it the formats were others, and the
    working tree. Raises BookError where the history is not whole.
    """
    history = History(root, *files, since)
    present = history.files[WORKTREE]
    found = [f"{path} is not there, or no plain file" for path in {*files, since} - {*present}]
    for path, parse in files.items():
        first: dict[str, str] = {}  # the first commit with each text that the file ever had
        for commit, texts in history.files.items():
            if since in texts and path in texts:
                first.setdefault(texts[path], commit)
        known: dict[Hashable, tuple[str, str]] = {}
        differing: dict[Hashable, str] = {}
        for text, commit in first.items():
            for identity, content in _pairs(parse, text, strict=text == present.get(path)):
                if known.setdefault(identity, (content, commit))[0] != content:
                    differing.setdefault(identity, commit)
        found += (
            f"{path}: {BRIEF.repr(identity)} was recorded in {_where(known[identity][1])},"
            f" and is otherwise since {_where(commit)}."
            for identity, commit in differing.items()
        )
    return found


def rewritten(root: Path, path: str, since: str) -> list[str]:
    """Return a sentence for each list of codes with the same numbers that did not grow at its end.

    It goes on from that of a parent of its commit, or is begun again with one code.
    """
    history = History(root, path, since)
    lists = {
        commit: _same(texts.get(path, "")) if since in texts else {}
        for commit, texts in history.files.items()
    }
    return [
        f"{path}: the codes of {name} were rewritten in {_where(commit)}."
        for commit, parents in history.parents.items()
        for name, (same, content) in lists[commit].items()
        if len(same) > 1 and (before := [p for p in parents if name in lists[p]])
        and not any(
            same[: len(lists[p][name][0])] == lists[p][name][0] and content == lists[p][name][1]
            for p in before
        )
    ]  # fmt: skip


@cache
def _same(text: str) -> dict[str, tuple[list[str], str]]:
    """The codes of each chapter and file that make the same numbers, and what these are."""
    found = (json.loads(line) for line in text.split("\n") if '"same": ' in line)
    return {
        line.get("chapter") or line["file"]: (
            line["same"],
            _canonical([line.get(name) for name in SAME]),
        )
        for line in found
    }


def lost(root: Path, path: str, since: str) -> list[dict[str, str]]:
    """Return what identified outcomes of a file that it once had and no longer has."""
    history = History(root, path, since)
    texts = {held[path] for held in history.files.values() if since in held and path in held}
    now = dict(lines((root / path).read_text(encoding="utf-8")))
    known = {str(identity) for text in texts for identity, _ in _pairs(lines, text)}
    return [json.loads(identity) for identity in sorted(known - {*map(str, now)})]


def runs(text: str) -> Iterator[tuple[Hashable, str]]:
    """Yield the entries of a file of stored runs by configuration and code."""
    for entry in json.loads(text, parse_int=float):  # 1 and 1.0 are the same configuration
        identity = [entry.pop("configuration"), entry.pop("code")]
        yield _canonical(identity), _canonical(entry)


def lines(text: str) -> Iterator[tuple[Hashable, str]]:
    """Yield the outcomes of the record by chapter, code and variation."""
    for line in filter(str.strip, text.split("\n")):
        content = json.loads(line)
        if content["line"] == "outcome":
            yield _canonical({name: content[name] for name in IDENTITY}), line


def _pairs(parse: Callable[[str], Pairs], text: str, *, strict: bool = False) -> Pairs:
    """What a text records; nothing where it is no JSON, such as after a merge with conflicts."""
    try:
        return list(parse(text))
    except json.JSONDecodeError:
        if strict:
            raise
        return []


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _where(commit: str) -> str:
    return commit if commit == WORKTREE else f"commit {commit[:12]}"
