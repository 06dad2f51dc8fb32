"""The device that is asked for is the one that is there, or the reason why not."""

import pytest
import torch

from emergence.running import devices


def test_a_device_is_known_by_its_name(monkeypatch):
    for has_cuda, automatic in ((False, "cpu"), (True, "cuda")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda has_cuda=has_cuda: has_cuda)
        assert devices.resolve_device("auto").type == automatic
        assert devices.resolve_device("cpu").type == "cpu"
    assert devices.resolve_device("cuda").type == "cuda"


def test_a_device_that_is_not_there_raises(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for name, message in (("cuda", "no CUDA device"), ("tpu", "auto, cpu or cuda, got 'tpu'")):
        with pytest.raises(ValueError, match=message):
            devices.resolve_device(name)
