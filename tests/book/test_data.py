"""Every file of data/ is explained, and what is explained is there."""

import re

from tools.this_book import ROOT

DATA = ROOT / "data"


def test_the_readme_lists_every_file_and_its_command():
    rows = re.findall(r"^\| `([\w./*]+)` \| .+ \| (.+) \|$", (DATA / "README.md").read_text(), re.M)
    scripts = [name for _, command in rows for name in re.findall(r"`([\w/]+\.py)`", command)]
    files = {path.relative_to(DATA).as_posix() for path in DATA.rglob("*") if path.is_file()}
    files = {re.sub(r"machines/.*", "machines/*.json", n) for n in files if "__pycache__" not in n}
    rows = [row for row in rows if "*" not in row[0] or row[0] in files]  # nobody may have sent one
    assert {name for name, _ in rows} | set(scripts) | {"README.md"} == files
