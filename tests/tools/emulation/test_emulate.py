"""The emulator catches each kind of error that a GPU would raise, and passes what it would pass."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from tools.emulation.emulate import emulated
from tools.this_book import ROOT

GPU = torch.device("cuda", 0)


@pytest.fixture(autouse=True)
def cuda():
    with emulated() as found:
        yield found


def on_gpu(*shape):
    return torch.randn(*shape, generator=torch.Generator("cuda").manual_seed(0), device="cuda")


@pytest.mark.parametrize("make", [
    lambda: torch.zeros(2, device="cuda"), lambda: torch.zeros(2).to("cuda"),
    lambda: torch.zeros(2).cuda(), lambda: torch.arange(2).to(on_gpu(3)),
    lambda: torch.zeros(2).to(torch.device("cuda"), torch.float64),
    lambda: torch.tensor([1, 2], device="cuda"), lambda: torch.from_numpy(np.ones(2)).to(GPU),
    lambda: torch.as_tensor(np.ones(2), device="cuda"), lambda: torch.zeros_like(on_gpu(2)),
    lambda: torch.as_tensor(torch.ones(2), device="cuda"), lambda: on_gpu(2).new_zeros(3),
    lambda: torch.zeros_like(torch.ones(2), device="cuda"), lambda: on_gpu(3, 3)[1:, 0],
    lambda: on_gpu(2).double(), lambda: on_gpu(2) + 1, lambda: on_gpu(2) * torch.tensor(2.0),
    lambda: functional.one_hot(torch.arange(3, device="cuda"), 4), lambda: on_gpu(3)[[0, 2]],
    lambda: on_gpu(3)[torch.tensor([0, 2])], lambda: on_gpu(3)[torch.tensor([True, False, True])],
    lambda: torch.where(on_gpu(3) > 0, 1.0, torch.tensor(0.0)), lambda: on_gpu(2).detach().data,
    lambda: torch.stack([on_gpu(2), on_gpu(2)]), lambda: nn.Parameter(on_gpu(2)),
    lambda: torch.linalg.qr(on_gpu(3, 3)).Q,
    lambda: torch.einsum("ij,jk", on_gpu(2, 3), on_gpu(3, 2)),
    lambda: torch.cat([on_gpu(2), on_gpu(1)]).sort().values, lambda: on_gpu(2).type_as(on_gpu(2)),
    lambda: nn.Linear(2, 3).to("cuda").weight, lambda: on_gpu(3).masked_fill(on_gpu(3) > 0, 0.0),
    lambda: torch.linalg.pinv(on_gpu(3, 2)), lambda: (on_gpu(3) > 0).cumsum(0),
    lambda: on_gpu(3).std(),
])  # fmt: skip
def test_it_is_on_the_gpu(make):
    made = make()
    assert made.device == GPU
    assert (made.is_cuda, made.is_cpu) == (True, False)


@pytest.mark.parametrize("make", [
    lambda: torch.zeros(2), lambda: on_gpu(2).cpu(), lambda: on_gpu(2).to("cpu", torch.float64),
    lambda: torch.zeros_like(on_gpu(2), device="cpu"), lambda: on_gpu(2).new_zeros(2, device="cpu"),
    lambda: torch.tensor(on_gpu(2).tolist()), lambda: torch.tensor(on_gpu(2).sum().item()),
    lambda: torch.zeros(2).copy_(on_gpu(2)), lambda: torch.from_numpy(on_gpu(2).cpu().numpy()),
    lambda: torch.Generator("cuda").get_state(), lambda: on_gpu(2).to(torch.zeros(1)),
])  # fmt: skip
def test_it_is_in_main_memory(make):
    made = make()
    assert made.device == torch.device("cpu")
    assert (made.is_cuda, made.is_cpu) == (False, True)
    assert made.numpy().size


@pytest.mark.parametrize("mix", [
    lambda a, b: a + b, lambda a, b: b * a, lambda a, b: a @ b, lambda a, b: torch.cat([a, b]),
    lambda a, b: torch.stack([a.sum(), b.sum()]), lambda a, b: a.add_(b), lambda a, b: b.add_(a),
    lambda a, b: b.sum().add_(a.sum()), lambda a, b: a.sum() * b,  # a single number, of the GPU
    lambda a, b: a.gather(0, b.long()), lambda a, b: torch.where(b > 0, a, a),
    lambda a, b: a.masked_fill(b > 0, 0.0), lambda a, b: torch.searchsorted(a, b),
    lambda a, b: functional.embedding(b.long(), a), lambda a, b: functional.linear(a, b),
    lambda a, b: a.index_add_(0, torch.zeros(3, dtype=torch.long), a),
    lambda a, b: a.scatter_(0, torch.zeros(1, 3, dtype=torch.long), 1.0),
    lambda a, b: a.__setitem__(torch.tensor([0]), b[:1]), lambda a, b: torch.maximum(a, b),
    lambda a, b: functional.mse_loss(a, b), lambda a, b: torch.isin(a, b),
    lambda a, b: torch.linalg.solve(a, b), lambda a, b: torch.einsum("ij,jk", a, b),
    lambda a, b: a * torch.from_numpy(b.numpy()), lambda a, b: a - nn.Parameter(b),
    lambda a, b: a + b.clone().numpy().sum() * torch.Tensor(b), lambda a, b: a + b[0].detach(),
])  # fmt: skip
def test_mixing_is_refused(mix):
    with pytest.raises(RuntimeError, match="on the same device"):
        mix(on_gpu(3, 3), torch.ones(3, 3))


@pytest.mark.parametrize("convert", [
    lambda a: a.numpy(), np.asarray, np.array, lambda a: np.array([a.sum(), a.sum()]),
    lambda a: np.sqrt(a), lambda a: np.stack([a, a]), lambda a: np.asarray(a.double()[0]),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:__array__ implementation")
def test_numpy_wants_main_memory(convert):
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
        convert(on_gpu(3, 3))


def test_indices_on_the_gpu_do_not_index_main_memory():
    with pytest.raises(RuntimeError, match="indices should be either on cpu"):
        torch.ones(3)[torch.tensor([1], device="cuda")]
    with pytest.raises(RuntimeError, match="indices should be either on cpu"):
        torch.ones(3)[torch.tensor([1], device="cuda")] = 0.0


@pytest.mark.parametrize("draw", [
    lambda g, d: torch.randn(2, generator=g, device=d),
    lambda g, d: torch.rand(2, generator=g, device=d),
    lambda g, d: torch.randint(5, (2,), generator=g, device=d),
    lambda g, d: torch.randperm(5, generator=g, device=d),
    lambda g, d: torch.empty(2, device=d).uniform_(generator=g),
    lambda g, d: torch.multinomial(torch.ones(3, device=d), 2, generator=g),
    lambda g, d: torch.bernoulli(torch.ones(3, device=d), generator=g),
])  # fmt: skip
def test_streams_draw_on_their_own_device(draw):
    for device in ("cpu", "cuda"):
        assert draw(torch.Generator(device), device).device.type == device
    for stream, device in (("cpu", "cuda"), ("cuda", "cpu")):
        with pytest.raises(RuntimeError, match=rf"Expected a '{device}' .* found '{stream}'"):
            draw(torch.Generator(stream), device)
    with pytest.raises(RuntimeError, match=r"Expected a 'cpu' .* found 'cuda'"):
        torch.randn(2, generator=torch.Generator("cuda"))


def test_whole_numbers_have_no_product_on_the_gpu():
    square = torch.ones(2, 2, dtype=torch.long)
    assert (square @ square).sum() == 8
    with pytest.raises(RuntimeError, match="not implemented"):
        square.cuda() @ square.cuda()


@pytest.mark.parametrize("add", [
    lambda a: a.cumsum(0), lambda a: a.double().cumsum(1), lambda a: a.kthvalue(1),
])  # fmt: skip
def test_sums_in_any_order_are_refused(add):
    with pytest.raises(RuntimeError, match="does not have a deterministic implementation"):
        add(on_gpu(3, 3))


@pytest.mark.parametrize("make", [
    lambda p: torch.optim.AdamW(p, fused=True), lambda p: torch.optim.SGD(p, lr=0.1, fused=True),
    lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), lambda p: torch.optim.Adam(p),
    lambda p: torch.optim.AdamW(p, amsgrad=True), lambda p: torch.optim.Adam(p, foreach=False),
])  # fmt: skip
def test_training_is_the_same_as_without(make):
    """Two steps, a state put back, two more: the same numbers as on the processor."""
    found = []
    for device in ("cuda", "cpu"):
        model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
        for i, part in enumerate(model.parameters()):
            part.data = torch.linspace(-1, 1 + i, part.numel()).view(part.shape)
        model.to(device)
        for _ in range(2):
            optimiser = make(model.parameters())
            for step in range(2):
                optimiser.zero_grad()
                model(torch.full((2, 3), 0.5 + step, device=device)).square().mean().backward()
                optimiser.step()
            state = {k: v.cpu() for k, v in model.state_dict().items()}
            model.load_state_dict(state)
            optimiser.load_state_dict(optimiser.state_dict())
        assert {p.device.type for p in model.parameters()} == {device}
        assert {p.grad.device.type for p in model.parameters()} == {device}
        found.append(torch.cat([p.detach().cpu().flatten() for p in model.parameters()]))
    assert torch.allclose(*found, rtol=1e-6, atol=1e-7)


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    def backward(ctx, d):
        a, b = ctx.saved_tensors
        assert d.device == a.device == b.device == torch.zeros(1, device=d.device).device
        return d @ b.T, a.T @ d


def test_gradients_know_their_device():
    a, b = on_gpu(3, 3).requires_grad_(), on_gpu(3, 3).requires_grad_()
    for gradient in torch.autograd.grad(Product.apply(a, b).square().sum(), (a, b)):
        assert gradient.device == GPU
    first = torch.zeros(1, dtype=torch.long, device=GPU)
    Product.apply(a, b).amax(dim=1).gather(0, first).backward()
    assert a.grad.device == b.grad.device == GPU
    here = torch.ones(3, requires_grad=True)
    (here.to(GPU) * a).sum().backward()
    assert here.grad.device.type == "cpu"
    assert here.grad.numpy().shape == (3,)
    jacobian = torch.autograd.functional.jacobian(lambda x: x**2, on_gpu(2))
    assert jacobian.device == torch.func.vmap(torch.sum)(on_gpu(3, 2)).device == GPU


def test_a_backward_that_mixes_is_refused():
    class Wrong(Product):
        @staticmethod
        def backward(ctx, d):
            return d @ torch.eye(3), None

    a = on_gpu(3, 3).requires_grad_()
    with pytest.raises(RuntimeError, match="on the same device"):
        Wrong.apply(a, on_gpu(3, 3)).sum().backward()


def test_waiting_is_counted_where_it_happens(cuda):
    x = on_gpu(3)
    x + 1, x[x > 0], float(x.sum()), x.cpu()
    torch.ones(3).sum().item(), bool(x.sum() > 0)
    lines = [line for file, line in cuda.syncs if file == __file__]
    assert [cuda.syncs[__file__, line] for line in lines] == [3, 1]


def test_only_what_the_gpu_is_given_is_counted(cuda):
    torch.ones(3) + torch.ones(3)
    assert cuda.operations == 0
    torch.ones(3, device="cuda") + 1
    assert cuda.operations > 0


def test_a_gradient_lies_where_its_parameter_does():
    parameter = on_gpu(2)
    parameter.grad = on_gpu(2)
    with pytest.raises(RuntimeError, match="assigned grad has data located on a different device"):
        parameter.grad = torch.ones(2)


def test_afterwards_all_is_as_before():
    ask = (
        "import torch; from tools.emulation import emulate\n"
        "both = torch.Tensor, torch.Generator\n"
        "def names(): return [{n: id(v) for n, v in vars(o).items()} for o in both]\n"
        "before = names()\n"
        "with emulate.emulated(): made = torch.ones(2, device='cuda'); assert made.is_cuda\n"
        "assert before == names()\n"
        "assert made.device.type == 'cpu' and not torch.cuda.is_available()"
    )
    subprocess.run([sys.executable, "-c", ask], cwd=ROOT, check=True)
