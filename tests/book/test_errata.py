"""The page of errata sorts them, defends each, and has every row of the ledger that is one."""

import re
from collections import Counter

from tools.this_book import ROOT, claims

TEXT = (ROOT / "book/paper/errata.md").read_text(encoding="utf-8")
CELL = re.compile(r"^```\{code-cell\}.*?^```$", re.DOTALL | re.MULTILINE)
QUOTED = re.compile(r"\{verdict\}`([\w-]+)`")
KINDS = ("Wrong", "Gaps", "Notation")


def sections():
    """The text below each heading of second order."""
    parts = re.split(r"^## (.+)$", CELL.sub("", TEXT), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def entries():
    """Each entry by its anchor: what stands between it and the next one."""
    text = "".join(sections()[kind] for kind in KINDS)
    parts = re.split(r"^\((slips?-[\w-]+)\)=$", text, flags=re.MULTILINE)
    assert not parts[0].strip(), "an entry has no anchor"
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_errata_are_sorted_and_withdrawn_ones_come_last():
    assert tuple(sections()) == (*KINDS, "Withdrawn")


def test_an_erratum_has_a_defence_and_an_answer():
    for name, text in entries().items():
        if "*Defence*: " in text:
            assert re.findall(r"\*(Defence|Answer)\*: ", text) == ["Defence", "Answer"], name
        else:  # it counts as a claim of the paper, and is defended there
            defended = [claims()[row].rebuttal for row in QUOTED.findall(text)]
            assert defended, name
            assert all(defended), name


def test_every_erratum_of_the_ledger_is_on_the_page_once():
    quoted = Counter(QUOTED.findall("".join(entries().values())))
    errata = {row.id for row in claims().values() if row.kind == "erratum"}
    assert {name for name in quoted if claims()[name].kind == "erratum"} == errata
    assert set(quoted.values()) == {1}
