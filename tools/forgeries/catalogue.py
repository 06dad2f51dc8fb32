"""The forgeries: what each plants in an archive of the toy book."""

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bookbuild.results.archive import MANIFEST
from bookbuild.results.store import SUFFIX, Stored
from tools.toy_book import LINE, SQUARE

from .archive import add, find, manifest, members, outputs, put_bytes, replaced, reseal, rewrite

MARK = "forged-by-a-stranger"  # in whatever a forgery plants, where a site would show it
RUNS = f"document.title='{MARK}'"


@dataclass(frozen=True)
class Forgery:
    """A forgery.

    Attributes:
        name: what it is called.
        plant: does it to an archive; the second path is a file that only executed code makes.
        acts: whether it wants to do something on a page.
        drawn: whether it can only be found by computing its result again.
    """

    name: str
    plant: Callable[[Path, Path], None]
    acts: bool = False
    drawn: bool = False


def _output(data: dict[str, str], metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": metadata or {}}


def _shown(data: dict[str, str]) -> Callable[[Path, Path], None]:
    """Return a forgery that appends an output to the line's chapter."""
    return lambda path, _: reseal(path, LINE, outputs(lambda all: all.append(_output(data))))


def _swapped(name: str, old: str, new: str, among: str = "") -> Callable[[Path, Path], None]:
    return lambda path, _: reseal(path, name, replaced(old, new, among=among))


def _code_as_training(path: Path, witness: Path) -> None:
    """Name a function that executes any file as a training, with a digest that is right."""
    script = path.with_name("stranger.py")
    script.write_text(f"from pathlib import Path\nPath({str(witness)!r}).touch()\n")
    task = {"module": "distributed.utils", "function": "import_file"}
    _add(path, {"task": task | {"configuration": {"path": str(script)}}, "device": "cpu"})


def _other_training(path: Path, _: Path) -> None:
    """Name a function of the builder as a training."""
    task = {"module": "bookbuild.results.inventory", "function": "prune", "configuration": {}}
    _add(path, {"task": task, "device": "cpu"})


def _add(path: Path, origin: dict[str, Any], files: dict[str, bytes] | None = None) -> None:
    """Add a training to an archive."""
    whole = files or {"value.json": b"1"}
    add(path, Stored("f" * 32, "sweep", "train", "", origin, whole))


def _a_year(path: Path, _: Path) -> None:
    """Forge a measure, and say that the chapter took a year, so that no budget would hold it."""
    _swapped(LINE, "2.0,", "2.5,", "measures")(path, _)
    _said(path, LINE, "seconds", 3e7)


def _elsewhere(path: Path, _: Path) -> None:
    """Forge the data of a figure, and say that they were made on another machine."""
    reseal(path, SQUARE, replaced('"x": [0, 1,', '"x": [0, 1.3,', among=".json"))
    _said(path, SQUARE, "machine", "Another machine")


def _said(path: Path, name: str, field: str, value: Any) -> None:
    """Have a result and the manifest say something else of where it was made."""
    key = find(path, name).key
    reseal(path, name, lambda stored: replace(stored, origin={**stored.origin, field: value}))

    def change(document: dict[str, Any]) -> None:
        next(item for item in document["items"] if item["key"] == key)["made"][field] = value

    manifest(path, change)


def _bomb(path: Path, _: Path) -> None:
    """Put a file of zeros into the archive that would take far more than its size."""
    rewrite(path, members(path) | {f"{'a' * 32}{SUFFIX}": bytes(200_000_000)})


def _bomb_within(path: Path, _: Path) -> None:
    """Put a compressed bomb into a result, where zipfile would unpack it in memory."""
    item = find(path, LINE)
    head = {"key": item.key, "kind": "chapter", "name": LINE, "date": "", "origin": {}}
    body = io.BytesIO()
    body.write(json.dumps(head).encode() + b"\n")
    with zipfile.ZipFile(body, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr("notebook.ipynb", bytes(50_000_000))
    put_bytes(path, item.key, body.getvalue())


def _deep(path: Path, _: Path) -> None:
    rewrite(path, members(path) | {MANIFEST: b"[" * 100_000 + b"]" * 100_000})


def _deep_within(path: Path, _: Path) -> None:
    put_bytes(path, find(path, LINE).key, b"[" * 100_000 + b"]" * 100_000 + b"\n")


def _types(path: Path, _: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        document["items"][0]["made"]["seconds"] = "soon"

    manifest(path, change)


def _truncated(path: Path, _: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])


def _twice(path: Path, _: Path) -> None:
    with zipfile.ZipFile(path, "a") as file:
        file.filelist.append(file.filelist[0])
        file.writestr(f"{'b' * 32}{SUFFIX}", b"")


def _outside(path: Path, _: Path) -> None:
    rewrite(path, members(path) | {"../../stranger.py": b"1"})


def _mixed(path: Path, _: Path) -> None:
    reseal(path, LINE, lambda stored: replace(stored, origin={**stored.origin, "seed": 7}))


def _chapter_twice(path: Path, _: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        document["items"] += [item for item in document["items"] if item["name"] == LINE]

    manifest(path, change)


def _object_array(path: Path, _: Path) -> None:
    """Add a training whose array would be unpickled."""
    stream = io.BytesIO()
    np.save(stream, np.array([{}], dtype=object), allow_pickle=True)
    files = {"value.json": b'{"array": "0.npy"}', "0.npy": stream.getvalue()}
    _add(path, {"device": "cpu"}, files)


def _glued_html(path: Path, _: Path) -> None:
    """Glue HTML into the prose in the place of a number."""
    glue = {"scrapbook": {"name": "slope", "mime_prefix": "application/papermill.record/"}}
    data = {"application/papermill.record/text/html": f"<script>{RUNS}</script>"}
    reseal(path, LINE, outputs(lambda all: all.append(_output(data, glue))))


def _named_setting(path: Path, _: Path) -> None:
    """Give a setting of a measure, which the page of verdicts shows, a script for a name."""
    name = json.dumps({f"<script>{RUNS}</script>": 2.0})
    document = f'{{"slope": {{"value": {name}, "over": "settings", "judged": true}}}}'

    def change(stored: Stored) -> Stored:
        return replace(stored, files={**stored.files, "measures.json": document.encode()})

    reseal(path, LINE, change)


def _runs_in_drawing(path: Path, _: Path) -> None:
    reseal(path, SQUARE, replaced("</svg>", f"<script>{RUNS}</script></svg>", among=".svg"))


HTML = f'<details class="provenance"><p>\n\n<script>{RUNS}</script>\n\n</p></details>'
CATALOGUE = (
    Forgery("code named as a training", _code_as_training),
    Forgery("a function of the builder as a training", _other_training),
    Forgery("a measure", _swapped(LINE, "2.0,", "2.5,", "measures"), drawn=True),
    Forgery("a measure of a chapter that says it took a year", _a_year, drawn=True),
    Forgery("data that say they come from another machine", _elsewhere, drawn=True),
    Forgery(
        "the data of a figure", _swapped(SQUARE, '"x": [0, 1', '"x": [0, 2', ".json"), drawn=True
    ),
    Forgery("a drawing", _swapped(SQUARE, "M ", "M 1", ".svg"), drawn=True),
    Forgery("a number in the prose", _swapped(LINE, '"2.0"', f'"{MARK}"', "notebook"), drawn=True),
    Forgery("an output of a cell", _shown({"text/plain": MARK}), drawn=True),
    Forgery("a script in an output", _shown({"text/html": f"<script>{RUNS}</script>"}), True),
    Forgery("a handler in an output", _shown({"text/html": f'<b onclick="{RUNS}">a</b>'}), True),
    Forgery("a script below a figure's fold", _shown({"text/html": HTML}), True),
    Forgery("JavaScript as an output", _shown({"application/javascript": RUNS}), True),
    Forgery("a directive", _shown({"text/markdown": f"```{{raw}} html\n<i>{MARK}</i>\n```"}), True),
    Forgery("a file of the reader", _shown({"text/markdown": "[a](../../../etc/passwd)"}), True),
    Forgery("HTML glued into the prose", _glued_html, True),
    Forgery("a script as the name of a setting", _named_setting, True),
    Forgery("a script in a drawing", _runs_in_drawing, True),
    Forgery("a bomb", _bomb),
    Forgery("a bomb in a result", _bomb_within),
    Forgery("deep JSON", _deep),
    Forgery("deep JSON in a result", _deep_within),
    Forgery("a text for a number", _types),
    Forgery("an array that would be unpickled", _object_array),
    Forgery("a truncated file", _truncated),
    Forgery("a member twice", _twice),
    Forgery("a path that leads out", _outside),
    Forgery("a chapter of another seed", _mixed),
    Forgery("a chapter twice", _chapter_twice),
)
