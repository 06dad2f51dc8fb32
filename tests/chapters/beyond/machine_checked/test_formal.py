"""The Coq development: the record fits the sources, and Coq refuses what is wrong."""

import json
import re
import shutil
from pathlib import Path

import pytest

from chapters.beyond import machine_checked

MISSING = machine_checked.missing()
COQ = pytest.mark.skipif(bool(MISSING), reason=MISSING or "Coq is here")
RECORD = json.loads(machine_checked.RECORD.read_text(encoding="utf-8"))


@pytest.fixture
def copy(tmp_path):
    """A development of our own to spoil: the files that need no interval arithmetic."""
    folder = tmp_path / "proofs"
    folder.mkdir()
    names = ["Calculus.v", "Picard.v", "Model.v"]
    for name in names:
        shutil.copy(machine_checked.FOLDER / name, folder)
    (folder / "_CoqProject").write_text("\n".join(["-Q . Emergence", *names]) + "\n")
    return folder


def edit(folder, file, old, new):
    source = (folder / file).read_text(encoding="utf-8")
    assert old in source
    (folder / file).write_text(source.replace(old, new), encoding="utf-8")


def test_every_theorem_stands_as_it_is_written():
    standing = machine_checked.standing()
    assert all(standing.values()), "make record WHAT=proofs writes the record anew"
    assert set(standing) == set(RECORD["theorems"])


def test_the_record_names_no_axiom_but_those_of_the_reals():
    machine_checked.raise_beyond_reals({
        name: set(entry["assumptions"]) for name, entry in RECORD["theorems"].items()
    })  # fmt: skip


@pytest.mark.parametrize(
    ("name", "supposed"),
    [
        ("theorem_2", r"\(N : R\) : 2 <= N ->"),
        ("corollary_1", r"\(N : R\) : 2 <= N ->"),
        (
            "theorem_2_for_the_network",
            r"\(N h : nat\) \(a b p : nat -> vector\) :\s+\(2 <= N\)%nat ->"
            r" orthonormal N h a b p ->\s+let n := INR N in "
            r"let L := network_loss strict N h a b p in",
        ),
        (
            "never_for_the_network",
            r"\(N h : nat\) \(a b p : nat -> vector\) :\s+\(1 <= N\)%nat ->"
            r" orthonormal N h a b p ->\s+let L := mean_network_loss causal N h a b p in",
        ),
    ],
)
def test_a_headline_supposes_no_flow(name, supposed):
    result = machine_checked.statements()[name]
    assert not result.context
    assert re.match(rf"Theorem {name} {supposed}\s+\(?exists alpha beta gamma", result.text)


def test_hypotheses_end_with_their_section():
    stated = machine_checked.statements()
    assert "at_least_one : (1 <= N)%nat" in stated["beta_never_rises"].context
    assert stated["icl_when_alpha_emerges"].file == stated["corollary_1"].file
    assert stated["icl_when_alpha_emerges"].context
    assert not stated["corollary_1"].context


def test_the_definitions_shown_are_those_that_statements_use():
    shown = machine_checked.definitions()
    assert {"loss", "signal", "retrieval", "follows_the_flow", "emerges_at", "gauss"} <= set(shown)
    assert {"t_icl", "network_loss", "attention_layer", "orthonormal", "total"} <= set(shown)
    assert not {"admissible", "clamp", "upper"} & set(shown)


def test_nothing_is_left_out_of_a_proof():
    assert set(machine_checked.files()) == set(machine_checked.FOLDER.glob("*.v"))
    for path in machine_checked.files():
        words = path.read_text(encoding="utf-8").split()
        for word in ("Admitted.", "admit.", "Axiom", "Parameter", "Conjecture", "Abort."):
            assert word not in words, f"{path.name}: {word}"


def test_an_edit_of_a_statement_makes_the_record_stale(copy, tmp_path):
    record = tmp_path / "proofs.json"
    entries = {name: {"statement": result.digest, "assumptions": []}
               for name, result in machine_checked.statements(copy).items()}  # fmt: skip
    sources = {
        name: RECORD["sources"][name] for name in RECORD["sources"] if (copy / name).exists()
    }
    record.write_text(json.dumps({"sources": sources, "theorems": entries}))
    assert all(machine_checked.standing(copy, record).values())
    edit(copy, "Model.v", "4 * beta * (N - 1)", "4 * beta * (N - 2)")
    assert not any(machine_checked.standing(copy, record).values())


def test_an_axiom_beyond_the_reals_is_named():
    with pytest.raises(machine_checked.Unproved, match=r"a_theorem rests on Wish\.granted"):
        machine_checked.raise_beyond_reals({"a_theorem": {"Wish.granted", *machine_checked.REALS}})


def test_coqchk_has_read_the_sources_as_they_are():
    assert machine_checked.libraries(), "make record WHAT=coqchk writes the record anew"


SUMMARY = """
* Theory: Set is predicative

* Axioms:
    Coq.Logic.Classical_Prop.classic
    {}

* Constants/Inductives relying on type-in-type: {}

"""


def test_coqchk_may_list_axioms_of_libraries_alone():
    listed = machine_checked.raise_beyond_libraries(SUMMARY.format("Coq.Reals.R", "<none>"))
    assert listed == ["Coq.Logic.Classical_Prop.classic", "Coq.Reals.R"]
    for faulty in (("Emergence.Model.wish", "<none>"), ("Coq.Reals.R", "Coq.Sets.loop")):
        with pytest.raises(
            machine_checked.Unproved, match=r"lists (Emergence\.M.*wish|Coq.*loop)\."
        ):
            machine_checked.raise_beyond_libraries(SUMMARY.format(*faulty))


def test_each_command_that_writes_a_record_names_a_function():
    for path in (Path("Makefile"), Path("_config.yml")):
        commands = re.findall(r"machine_checked import (\S+); (\S+)\(\)", path.read_text("utf-8"))
        assert commands == [("main", "main"), ("check", "check")], path
    assert callable(machine_checked.main)
    assert callable(machine_checked.check)


@pytest.mark.slow("Coq compiles")
@COQ
@pytest.mark.parametrize(
    ("file", "right", "wrong"),
    [
        ("Model.v", "4 * beta * (N - 1)", "4 * beta * (N - 2)"),
        ("Calculus.v", "0 <= speed t) -> f a <= f b.", "0 <= speed t) -> f a < f b."),
        # without its Lipschitz condition
        ("Picard.v", "(speed t x - speed u y) <= L * d)", "(speed t x - speed u y) <= 2 * L)"),
    ],
)
def test_what_is_wrong_does_not_compile(copy, file, right, wrong):
    edit(copy, file, right, wrong)
    with pytest.raises(machine_checked.Unproved, match=rf"{file} does not compile"):
        machine_checked.compile_proofs(copy)


@pytest.mark.slow("Coq compiles")
@COQ
def test_an_axiom_that_proves_a_theorem_is_found(copy):
    with (copy / "Model.v").open("a", encoding="utf-8") as source:
        source.write("Axiom wish : 0 = 1.\nTheorem granted : 0 = 1.\nProof. exact wish. Qed.\n")
    with pytest.raises(machine_checked.Unproved, match=r"rests on (\w+\.)*wish"):
        machine_checked.compile_proofs(copy)
    with pytest.raises(machine_checked.Unproved, match=r"coqchk lists Emergence\.Model\.wish"):
        machine_checked.check_compiled(copy)
