"""What a kernel finds, on the toy book."""

import pytest

from tools.toy_book import SQUARE, Toy

TELLING = """
import logging, os, sys
import matplotlib
process = {
    "inline": "inline" in matplotlib.get_backend(),
    "no PyTorch": "torch" not in sys.modules,
    "its own folder": os.environ["BOOKBUILD_OUTPUT"].endswith("-beyond-01_square/entry"),
    "the salt of drawings": os.environ["BOOKBUILD_SALT"] == "emergence",
    "a session": os.getsid(0) == os.getpid(),
    "nothing to read": sys.__stdin__.read() == "",
    "progress, asked for where bookbuild begins": logging.getLogger(
        "running.progress"
    ).handlers != [],
    "hash seed": hash("emergence") == -3074898122222032432,
}
report("process", process, over="settings", judged=False)
"""


@pytest.mark.usefixtures("without_site")
def test_a_kernel_finds_what_it_needs_and_nothing_of_others(toy: Toy) -> None:
    toy.append(SQUARE, TELLING)
    toy.build()
    process = toy.entry(SQUARE).measures["process"]["value"]
    assert [what for what, is_so in process.items() if not is_so] == []
