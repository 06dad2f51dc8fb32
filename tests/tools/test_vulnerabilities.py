"""The drill of vulnerabilities looks up every locked package, PyTorch among them."""

import subprocess

from tools import vulnerabilities
from tools.this_book import ROOT


def test_every_lock_is_looked_up_and_one_fault_is_enough(monkeypatch):
    asked = []

    def run(order, **_):
        asked.append(order[-1])
        return subprocess.CompletedProcess(order, len(asked) == 2, "", "")

    monkeypatch.setattr(vulnerabilities.importlib.util, "find_spec", lambda _: True)
    monkeypatch.setattr(vulnerabilities.subprocess, "run", run)
    assert vulnerabilities.main() == 1
    locks = [*ROOT.glob("requirements*"), *ROOT.glob("tools/**/requirements*")]
    assert sorted(asked) == sorted(map(str, locks))
    assert str(ROOT / "requirements.lock") in asked
