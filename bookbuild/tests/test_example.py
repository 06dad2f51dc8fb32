"""The example of a small paper: its commands say what they did, and its site has what it needs."""

import json
import re
import shutil
import subprocess
import sys

from bookbuild.settings import BuildSettings
from tools.this_book import ROOT

PAGES = {
    "index.html": "book/index.html",
    "book/letter/01_distance.html": 'href="../reference.html#walks.steps.mean_squared',
    "book/letter/02_growth.html": "The squared distance grows with the steps.",
    "book/verdicts.html": "letter/01_distance.html#measure-distance_per_step",
    "figures/letter/02_growth/fig-growth.svg": "<svg",
}


def test_a_chapter_and_a_build_of_the_example(tmp_path):
    book = shutil.copytree(ROOT / "bookbuild" / "example", tmp_path / "example")
    output = ""
    for order in (("chapter", "--profile", "smoke", "letter/01_distance"), ("build",)):
        done = subprocess.run(
            [sys.executable, "-m", "bookbuild", *order], cwd=book, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        output += done.stdout
    assert re.search(r"^ distance-is-the-number-of-steps .* not judged", output, re.MULTILINE)
    assert "3 chapters executed" in output
    assert "contradicted: return-is-certain (New results; § A return)" in output
    site = BuildSettings(book).site
    rows = json.loads((site / "data/ledger.json").read_text(encoding="utf-8"))
    assert {row["id"]: row["verdict"] for row in rows} == {
        "distance-is-the-number-of-steps": "reproduced",
        "distance-grows-linearly": "reproduced",
        "return-is-certain": "contradicted",
    }
    for page, text in PAGES.items():
        assert text in (site / page).read_text(encoding="utf-8"), page
    symbols = (site / "book/letter/01_distance.html").read_text(encoding="utf-8")
    assert '<span class="symbol symbol-1 math' in symbols
