"""The emulator refuses each kind of error that a GPU would raise, and passes what it would pass."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from emergence.running.devices import resolve_device
from tools.emulation import emulated
from tools.this_book import ROOT

GPU = torch.device("cuda", 0)
MIXED, STREAM = "on the same device", "device type for generator"
INDICES, NO_ARRAY = "indices should be either on cpu", "can't convert cuda:0 device type tensor"


@pytest.fixture(autouse=True)
def cuda():
    with emulated() as result:
        yield result


def on_gpu(*shape):
    return torch.randn(*shape, generator=torch.Generator("cuda").manual_seed(0), device="cuda")


@pytest.mark.parametrize("make", [
    lambda: torch.zeros(2, device="cuda"), lambda: torch.zeros(2).to("cuda"),
    lambda: torch.zeros(2).cuda(), lambda: torch.arange(2).to(on_gpu(3)),
    lambda: torch.zeros(2).to(torch.device("cuda"), torch.float64),
    lambda: torch.as_tensor(np.ones(2), device="cuda"), lambda: torch.zeros_like(on_gpu(2)),
    lambda: torch.as_tensor(torch.ones(2), device="cuda"), lambda: on_gpu(2).new_zeros(3),
    lambda: on_gpu(3, 3)[1:, 0], lambda: on_gpu(2).double(), lambda: on_gpu(2) * torch.tensor(2.0),
    lambda: on_gpu(3)[torch.tensor([0, 2])], lambda: on_gpu(2).detach().data,
    lambda: torch.where(on_gpu(3) > 0, 1.0, torch.tensor(0.0)), lambda: nn.Parameter(on_gpu(2)),
    lambda: torch.linalg.qr(on_gpu(3, 3)).Q, lambda: nn.Linear(2, 3).to("cuda").weight,
    lambda: torch.einsum("ij,jk", on_gpu(2, 3), on_gpu(3, 2)), lambda: on_gpu(3).std(),
    lambda: torch.func.vmap(torch.sum)(on_gpu(3, 2)), lambda: (on_gpu(3) > 0).cumsum(0),
])  # fmt: skip
def test_it_is_on_the_gpu(make):
    made = make()
    assert made.device == GPU
    assert (made.is_cuda, made.is_cpu) == (True, False)


@pytest.mark.parametrize("make", [
    lambda: torch.zeros(2), lambda: on_gpu(2).cpu(), lambda: on_gpu(2).to("cpu", torch.float64),
    lambda: torch.zeros_like(on_gpu(2), device="cpu"), lambda: torch.tensor(on_gpu(2).tolist()),
    lambda: torch.zeros(2).copy_(on_gpu(2)), lambda: torch.from_numpy(on_gpu(2).cpu().numpy()),
    lambda: torch.Generator("cuda").get_state(), lambda: on_gpu(2).to(torch.zeros(1)),
])  # fmt: skip
def test_it_is_in_main_memory(make):
    made = make()
    assert made.device == torch.device("cpu")
    assert (made.is_cuda, made.is_cpu) == (False, True)
    assert made.numpy().size


class Wrong(torch.autograd.Function):
    """A product whose backward pass makes its matrix in main memory."""

    @staticmethod
    def forward(ctx, a):
        return a @ a

    @staticmethod
    def backward(ctx, d):
        return d @ torch.eye(3)


@pytest.mark.parametrize(("told", "wrong"), [
    *((MIXED, mix) for mix in (
        lambda a, b: a + b, lambda a, b: a @ b, lambda a, b: torch.cat([a, b]),
        lambda a, b: a.add_(b), lambda a, b: b.sum().add_(a.sum()),
        lambda a, b: a.sum() * b,  # a single number, of the GPU
        lambda a, b: a.gather(0, b.long()), lambda a, b: a.masked_fill(b > 0, 0.0),
        lambda a, b: functional.embedding(b.long(), a), lambda a, b: torch.linalg.solve(a, b),
        lambda a, b: a.index_add_(0, torch.zeros(3, dtype=torch.long), a),
        lambda a, b: a.__setitem__(torch.tensor([0]), b[:1]),
        lambda a, b: a * torch.from_numpy(b.numpy()), lambda a, b: a - nn.Parameter(b),
        lambda a, b: a + b[0].detach(),
        lambda a, b: Wrong.apply(a.requires_grad_()).sum().backward(),
    )),
    *((NO_ARRAY, convert) for convert in (
        lambda a, b: a.numpy(), lambda a, b: np.asarray(a.double()[0]), lambda a, b: np.sqrt(a),
        lambda a, b: np.stack([a, a]),
    )),
    *((INDICES, index) for index in (
        lambda a, b: b[torch.tensor([1], device="cuda")],
        lambda a, b: b.__setitem__(torch.tensor([1], device="cuda"), 0.0),
    )),
    *((STREAM, draw) for draw in (
        lambda a, b: torch.randn(2, generator=torch.Generator("cuda")),
        lambda a, b: torch.randperm(5, generator=torch.Generator("cpu"), device="cuda"),
        lambda a, b: a.uniform_(generator=torch.Generator("cpu")),
        lambda a, b: torch.multinomial(b.abs(), 2, generator=torch.Generator("cuda")),
    )),
    ("different device", lambda a, b: setattr(a, "grad", b)),
    ("not implemented", lambda a, b: a.long() @ a.long()),
    ("deterministic implementation", lambda a, b: a.double().cumsum(1)),
    ("deterministic implementation", lambda a, b: a.kthvalue(1)),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:__array__ implementation")
def test_what_a_gpu_refuses_is_refused(told, wrong):
    with pytest.raises((RuntimeError, TypeError), match=told):
        wrong(on_gpu(3, 3), torch.ones(3, 3))


def test_a_gradient_goes_back_to_where_its_tensor_lies():
    here = torch.ones(3, requires_grad=True)
    (here.cuda() * on_gpu(3)).sum().backward()
    assert here.grad.numpy().shape == (3,)


def test_only_what_the_gpu_is_given_is_counted(cuda):
    torch.ones(3) + torch.ones(3)
    assert cuda.operations == 0
    torch.ones(3, device="cuda") + 1
    assert cuda.operations > 0
    assert resolve_device("auto") == torch.device("cuda")


def test_afterwards_all_is_as_before():
    ask = (
        "import torch; from tools import emulation\n"
        "both = torch.Tensor, torch.Generator\n"
        "def names(): return [{n: id(v) for n, v in vars(o).items()} for o in both]\n"
        "before = names()\n"
        "with emulation.emulated(): made = torch.ones(2, device='cuda'); assert made.is_cuda\n"
        "assert before == names()\n"
        "assert made.device.type == 'cpu' and not torch.cuda.is_available()"
    )
    subprocess.run([sys.executable, "-c", ask], cwd=ROOT, check=True)
