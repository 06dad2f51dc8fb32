"""Which device "auto" stands for: a CUDA device, where PyTorch is built for one and finds it."""

from types import SimpleNamespace

import pytest

from bookbuild import settings
from bookbuild.errors import BookError


@pytest.mark.parametrize(
    ("library", "found", "device"),
    [
        ("libtorch_cuda.so", True, "cuda"),
        ("torch_cuda.dll", True, "cuda"),
        ("libtorch_hip.so", True, "cuda"),
        ("libtorch_cuda.so", False, "cpu"),
        ("libtorch_cpu.so", True, "cpu"),  # PyTorch is not asked
    ],
)
def test_auto_is_what_is_there(tmp_path, monkeypatch, library, found, device):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / library).touch()
    spec = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(settings, "find_spec", lambda _: spec)
    monkeypatch.setattr("torch.cuda.is_available", lambda: found)
    assert settings.resolve_device("auto") == device
    if device == "cpu":
        with pytest.raises(BookError, match="finds no CUDA device"):
            settings.resolve_device("cuda")


def test_without_pytorch_it_is_the_cpu(monkeypatch):
    monkeypatch.setattr(settings, "find_spec", lambda _: None)
    assert settings.resolve_device("auto") == "cpu"
