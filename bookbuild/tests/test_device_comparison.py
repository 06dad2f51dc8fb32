"""A book on a GPU beside the same on a processor: the toy book, told that it runs on a GPU."""

import csv
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bookbuild.device_comparison import HEAD, UNKNOWN
from bookbuild.pipeline import Result
from bookbuild.site import stamp
from tools.toy_book import LINE, SQUARE, Toy

EARLIER = 'report("square_of_three", square(3) + 0 * seed)'
# on the GPU the cell goes on until the driver has answered it twice, once with either answer
LATER = """
import os, time
from pathlib import Path

def answers():
    path = Path(os.environ["DRIVER_WAS_ASKED"])
    return path.read_text().count("\\n") if path.is_file() else 0

if device == "cuda":
    before = answers()
    while answers() < before + 3:
        time.sleep(0.05)
report("square_of_three", 7 if device == "cuda" else square(3) + 0 * seed)
"""
# in place of the driver's own tool: 60 and 20% of the time in turn, and at most 3 GiB
DRIVER = """#!/bin/sh
echo "$@" >> "$DRIVER_WAS_ASKED"
[ $(($(wc -l < "$DRIVER_WAS_ASKED") % 2)) = 1 ] && echo '60, 3072' || echo '20, 1024'
"""


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Put a tool of the driver, with this text, on the path; return where it says what it got."""

    def install(text: str) -> Path:
        tool = tmp_path / "bin" / "nvidia-smi"
        tool.parent.mkdir()
        tool.write_text(text)
        tool.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tool.parent}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setenv("DRIVER_WAS_ASKED", str(tmp_path / "asked"))
        monkeypatch.setattr("bookbuild.execution.execute.gpu_id", lambda: "GPU-7")
        return tmp_path / "asked"

    return install


def rows(result: Result) -> dict[str, list[str]]:
    """The columns of each chapter but the seconds."""
    head, *table = result.told.devices
    assert head == HEAD
    return {name: cells for name, _, _, *cells in table}


def written(toy: Toy) -> list[dict[str, str]]:
    with (toy.settings().site.parent / "devices.csv").open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_both_devices_are_compared(
    toy: Toy, driver: Callable[[str], Path], without_site: None
) -> None:
    toy.edit(f"book/{SQUARE}.md", EARLIER, LATER)
    assert toy.build().told.devices == []
    asked = driver(DRIVER)
    result = toy.build(device="cuda")
    assert toy.started() == {LINE, SQUARE}
    assert "--id=GPU-7 " in asked.read_text()
    found = rows(result)
    assert {name: cells[2:] for name, cells in found.items()} == {
        LINE: ["1", "0", "0", "none"],
        SQUARE: ["0", "0", "1", "square-of-three"],
    }
    assert {cells[0] for cells in found.values()} <= {f"{percent}%" for percent in range(20, 61)}
    assert "3.2 GB" in {cells[1] for cells in found.values()}
    lines = {(line["kind"], line["name"]): (line["cpu"], line["gpu"]) for line in written(toy)}
    assert lines["measure", "square_of_three"] == ("9.0", "7.0")
    assert lines["verdict", "square-of-three"] == ("contradicted", "reproduced")
    assert lines["verdict", "line-slope"] == ("reproduced", "reproduced")


def test_the_table_is_kept_with_the_seal(toy: Toy, driver: Callable[[str], Path]) -> None:
    driver(DRIVER)
    told = toy.build(device="cuda").told
    settings = toy.settings(device="cuda")
    again = stamp.unbroken(settings, stamp.ingredients(settings))
    assert again
    assert again.devices == told.devices


@pytest.mark.parametrize("text", ["#!/bin/sh\nexit 9\n", "#!/bin/sh\necho '[N/A], [N/A]'\n"])
def test_what_the_driver_does_not_tell_stays_open(
    toy: Toy, driver: Callable[[str], Path], without_site: None, text: str
) -> None:
    driver(text)
    assert {tuple(cells[:2]) for cells in rows(toy.build(device="cuda")).values()} == {
        (UNKNOWN, UNKNOWN)
    }


def test_without_results_of_a_processor_nothing_is_compared(
    unbuilt: Toy, without_site: None
) -> None:
    found = rows(unbuilt.build(device="cuda"))
    assert found == dict.fromkeys((LINE, SQUARE), [UNKNOWN] * 6)
    assert written(unbuilt) == []
