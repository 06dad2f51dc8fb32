"""CUDA without a GPU: tensors stay in main memory but have a device, and mixing devices fails.

    with emulated() as cuda:
        ...                     # device="cuda" works here; what would fail on a GPU fails
    cuda.operations             # how many operations the GPU was given
    cuda.waits                  # how often the processor waited for it

A tensor's device is noted on its storage, which views, detached copies and saved tensors share;
arrays that PyTorch makes inside an operation bear no note and take that of what they meet.
`_Calls` sees what Python asks for (device=, generator=), `_Operations` every operation of ATen,
those of the backward pass among them. An operation without a deterministic kernel is refused, as
PyTorch does where deterministic algorithms are asked for.

`Replay` is a CUDA graph without CUDA: operations are recorded once and done again on the same
arrays. A graph does not run Python again: numbers that it computed, branches that it took and
tensors that it exchanged are those of the recording. Work that relies on them fails here as on a
GPU: its bits are not those of the eager loop. What a capture refuses is refused: reading a value, a
shape that depends on data, arrays from main memory, libraries that allocate, waits, and streams
that are no part of the descent, the default stream among them.

python -m tools.emulation reads names of chapters, one a line, executes each in the smoke profile,
and writes what came of it, a line of JSON: the error if there was one, and the operations that the
GPU was given. Figures are made but not drawn: what a renderer is given has left the GPU.

What it does not see: memory, streams, speed, rounding (numbers are the processor's own, so no
tolerance is tried), other orders of random numbers, kernels that CUDA lacks (but products of whole
numbers), waits inside of a library, and other processes. It has not been held against a GPU.
"""

import io
import json
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import matplotlib as mpl
import torch
from matplotlib import pyplot
from matplotlib.figure import Figure
from torch import Tensor
from torch.autograd.function import BackwardCFunction
from torch.overrides import TorchFunctionMode, _get_current_function_mode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

from bookbuild.reporting import notebook
from bookbuild.source.chapters import Chapter, read_chapter
from emergence.running import graphs
from tools.this_book import ROOT

CPU, CUDA = "cpu", "cuda"
DEVICES = {CPU: torch.device(CPU), CUDA: torch.device(CUDA, 0)}
Base, functorch = torch._C.TensorBase, torch._C._functorch
_wrapped, _of = functorch.is_functorch_wrapped_tensor, Base.untyped_storage
INDEXED = {"index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index"}
PRODUCTS = {"mm", "bmm", "addmm", "baddbmm", "mv", "addmv", "dot"}  # not of whole numbers
WHOLE = {torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64}
UNORDERED = {"cumsum", "put_", "histc", "nll_loss2d_forward", "kthvalue"}  # sums in any order
SET_GRADIENT, TAKE_OVER = Tensor.grad.__set__, (torch.as_tensor, torch.asarray)
BROUGHT = (torch.tensor, *TAKE_OVER, Tensor.new_tensor)  # numbers from main memory
MIXED = "Expected all tensors to be on the same device, but found at least two devices"
INDICES = "indices should be either on cpu or on the same device as the indexed tensor (cpu)"
NO_ARRAY = "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy it first."
WAITS = {
    "_local_scalar_dense", "nonzero", "masked_select", "equal", "_unique2", "unique_dim",
    "bincount", "_linalg_check_errors", "is_nonzero",
}  # fmt: skip
LIBRARIES = {
    "linalg_cholesky_ex", "linalg_qr", "_linalg_eigh", "_linalg_svd", "linalg_lu_factor_ex",
    "_linalg_solve_ex", "linalg_inv_ex", "cholesky_solve", "linalg_solve_triangular",
}  # fmt: skip
DROPOUT = "_scaled_dot_product"  # could draw, and does not here
NO_KERNEL = {
    "_unsafe_view", "_reshape_alias", "detach", "alias", "empty", "new_empty", "empty_like",
}  # fmt: skip
LINES = 12  # of a traceback


class NotCapturable(Exception):
    """What a CUDA graph could not record."""


class Kernels(TorchDispatchMode):
    """The bytes and the operations of each kernel of some work, but for copies inside of one."""

    def __init__(self) -> None:
        super().__init__()
        self.costs: list[tuple[int, int]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        packet = func.overloadpacket
        if not func.is_view and packet.__name__ not in NO_KERNEL:
            touched = tensors(args, kwargs, out)
            count = flop_registry.get(packet)
            flops = count(*args, **(kwargs or {}), out_val=out) if count else 0
            self.costs.append((sum(t.numel() * t.element_size() for t in touched), flops))
        return out


class Replay(TorchDispatchMode):
    """Records work without doing it; `replay` does its operations, into the same arrays."""

    recording = False

    def __init__(self, work: Callable[[], Any], streams: Sequence[torch.Generator]) -> None:
        super().__init__()
        self.streams = list(streams)
        self.tape: list[tuple[Any, Any, Any, list[tuple[Tensor, bool]]]] = []
        self._made: set[int] = set()  # storages that the work has made
        self._before: dict[int, tuple[Any, Any]] = {}  # those from outside, as they were
        self._held: list[Any] = []  # or an address would be given to another array
        states = [stream.get_state() for stream in streams]
        try:
            Replay.recording = True
            with self:
                self.results = work()
        finally:
            Replay.recording = False
            for storage, was in self._before.values():  # a capture does nothing
                storage.copy_(was)
            for stream, state in zip(streams, states, strict=True):
                stream.set_state(state)

    @staticmethod
    def aside() -> Any:
        return nullcontext()

    timed = aside

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        given = tensors(args, kwargs)
        self._check(func, args, kwargs)
        known = set(map(_address, given))
        if func._schema.is_mutable:
            for tensor in given:
                if (at := _address(tensor)) not in self._made | self._before.keys():
                    self._before[at] = tensor.untyped_storage(), tensor.untyped_storage().clone()
        with torch._C.DisableTorchFunction():
            out = func(*args, **kwargs)
        results = tensors(out)
        fresh = [(tensor, _address(tensor) not in known) for tensor in results]
        self._made.update(_address(tensor) for tensor, new in fresh if new)
        if not func.is_view and (func._schema.is_mutable or any(new for _, new in fresh)):
            self.tape.append((func, args, kwargs, fresh))
        self._held.append((out, given))
        return out

    def _check(self, func: Any, args: Any, kwargs: Any) -> None:
        name = func.overloadpacket.__name__
        if name in WAITS:
            raise NotCapturable(f"{name} waits for the GPU")
        if name in LIBRARIES:
            raise NotCapturable(f"{name} belongs to a library that allocates")
        indices = args[1] if "index" in name and isinstance(args[1], list | tuple) else ()
        if any(index is not None and index.dtype == torch.bool for index in indices):
            raise NotCapturable(f"{name} with a mask has a shape that depends on data")
        drawn = [s for s in tree_leaves((args, kwargs)) if isinstance(s, torch._C.Generator)]
        draws = torch.Tag.nondeterministic_seeded in func.tags and not name.startswith(DROPOUT)
        if (draws and not drawn) or not all(map(self._known, drawn)):
            raise NotCapturable(f"{name} draws from a stream that is no part of the descent")

    def _known(self, stream: torch.Generator) -> bool:
        """By its state: an operation is handed another Python object of the same stream."""
        with torch._C._DisableTorchDispatch():
            return any(torch.equal(stream.get_state(), own.get_state()) for own in self.streams)

    def replay(self) -> None:
        with torch.no_grad(), torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            for func, args, kwargs, fresh in self.tape:
                again = tensors(func(*args, **kwargs))
                for (old, new), value in zip(fresh, again, strict=True):
                    if new and old.numel():
                        old.copy_(value)


def _address(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


@contextmanager
def replayed() -> Iterator[None]:
    """Replay the stretches of descents on this processor, as a GPU does."""
    with mock.patch.object(graphs, "recorder", return_value=Replay):
        yield


def _storage(tensor: Tensor) -> torch.UntypedStorage:
    while _wrapped(tensor):
        tensor = functorch.get_unwrapped(tensor)
    return _of(tensor)


def noted(tensor: Tensor) -> str | None:
    """The device noted for a tensor and all that share its storage, if any."""
    return getattr(_storage(tensor), "device_note", None)


def note(tensor: Tensor, device: str) -> Tensor:
    """Note a device."""
    _storage(tensor).device_note = device
    return tensor


def tensors(*trees: Any) -> list[Tensor]:
    """All tensors in nested tuples, lists and dicts."""
    return [leaf for leaf in tree_leaves(trees) if isinstance(leaf, Tensor)]


class _Calls(TorchFunctionMode):
    """What Python calls: a device asked for is noted, not handed on; streams must agree with it."""

    def __init__(self, wait: Callable[[], None]) -> None:
        super().__init__()
        self.wait = wait

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func == SET_GRADIENT and len({noted(tensor) for tensor in tensors(args)} - {None}) == 2:
            raise RuntimeError("assigned grad has data located on a different device")
        asked, stream = None, None
        if kwargs:
            kwargs, stream = dict(kwargs), kwargs.get("generator")
            asked = kwargs.pop("device", None)
        if stream is not None:
            device = _where(asked, args, kwargs)
            if (has := stream.device.type) != device:
                error = f"Expected a '{device}' device type for generator but found '{has}'"
                raise RuntimeError(error)
        out = func(*args, **(kwargs or {}))
        if func in TAKE_OVER and noted(out):  # perhaps the argument itself
            return out.to(_where(asked, args, kwargs))
        if out is None or type(out) in (int, bool, torch.Size, torch.dtype):
            return out
        for tensor in tensors(out):
            if asked is not None or noted(tensor) is None:
                note(tensor, _where(asked, args, kwargs))
        if func in BROUGHT and noted(out) == CUDA:
            self.wait()
        return out


def _where(asked: Any, args: Any, kwargs: Any) -> str:
    if asked is not None:
        return torch.device(asked).type
    return CUDA if CUDA in {noted(tensor) for tensor in tensors(args, kwargs)} else CPU


class _Operations(TorchDispatchMode):
    """Every operation: its tensors must lie on one device, where its result lies as well."""

    def __init__(self) -> None:
        super().__init__()
        self.operations = self.waits = 0

    def wait(self) -> None:
        """Count that the processor waits for the GPU."""
        if Replay.recording:
            raise NotCapturable("the processor waits for the GPU")
        self.waits += 1

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # nothing here is compiled, and the detour takes a third of the time

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func.is_view:  # no kernel, and a storage that has its note
            return func(*args, **kwargs)
        with torch._C.DisableTorchFunction():
            given = tensors(args, kwargs)
            device = self._device(func, args, given)
            out = func(*args, **kwargs)
            if device:
                for tensor in tensors(out):
                    if noted(tensor) is None:
                        note(tensor, device)
        return out

    def _device(self, func: Any, args: Any, given: list[Tensor]) -> str | None:
        """The one device of an operation; RuntimeError if there are two."""
        found = {noted(tensor) for tensor in given}
        found.discard(None)
        if not found or found == {CPU}:
            return CPU if found else None
        self.operations += 1
        name, pointwise, written = _known(func)
        bound, waits = given, name in WAITS
        if name in ("copy_", "_to_copy"):
            bound, waits = given[:1], len(found) == 2
        elif name in INDEXED:
            indices = tensors(args[1])
            if noted(args[0]) == CPU and CUDA in map(noted, indices):
                raise RuntimeError(INDICES)
            bound = given[:1] + [t for t in tensors(args[2:]) if t.dim() or noted(t) == CUDA]
            waits = any(t.dtype == torch.bool or noted(t) != CUDA for t in indices)
        elif pointwise and len(found) == 2:  # numbers that are only read may be anywhere
            bound = given[:written] + [t for t in given if t.dim() or noted(t) == CUDA]
        if len(found) == 2:
            found = {noted(tensor) for tensor in bound} - {None}
        if len(found) == 2:
            raise RuntimeError(f"{MIXED}, cuda:0 and cpu! (in {func})")
        if CUDA in found:
            if waits:
                self.wait()
            dtype = given[-1].dtype
            if name in PRODUCTS and dtype in WHOLE:
                raise RuntimeError(f'"addmm_cuda" not implemented for {dtype}')
            if name in UNORDERED and dtype not in WHOLE:
                raise RuntimeError(f"{name} does not have a deterministic implementation")
        return found.pop() if found else None


@cache
def _known(func: Any) -> tuple[str, bool, int]:
    """The name of an operation, whether it goes entry by entry, and how many tensors it writes."""
    name = func.overloadpacket.__name__
    pointwise = torch.Tag.pointwise in func.tags or name.startswith("masked_fill")
    return name, pointwise, int(func._schema.is_mutable)


class _Moved(torch.autograd.Function):
    """A copy on another device; its gradient comes back."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, device: str) -> Tensor:
        ctx.source = noted(tensor) or CPU
        return note(tensor.clone(), device)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return note(gradient.clone(), ctx.source), None


class Generator(torch._C.Generator):
    """A stream of random numbers that says it is on the device it was asked for."""

    device = DEVICES[CPU]

    def __new__(cls, device: Any = CPU) -> "Generator":
        stream = super().__new__(cls)
        stream.device = torch.device(device)
        return stream


@contextmanager
def emulated() -> Iterator[_Operations]:
    """Emulate one CUDA device, for `device="cuda"`."""
    operations, backward = _Operations(), BackwardCFunction.apply
    calls = _Calls(operations.wait)

    def to(tensor: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        device, first = kwargs.pop("device", None), args[0] if args else kwargs.pop("other", None)
        if isinstance(first, Tensor):
            device, args = first.device, (first.dtype, *args[1:])
        elif isinstance(first, str | int | torch.device):
            device, args = first, (None, *args[1:])
        out = Base.to(tensor, *args, **kwargs)
        if device is None or torch.device(device).type == (noted(out) or CPU):
            return out
        operations.wait()
        return _Moved.apply(out, torch.device(device).type)

    def numpy(tensor: Tensor, *, force: bool = False) -> Any:
        if tensor.is_cuda and not force:
            raise TypeError(NO_ARRAY)
        return Base.numpy(tensor, force=force)

    def go_backward(ctx: Any, *args: Any) -> Any:  # PyTorch has left the mode by then
        with nullcontext() if _get_current_function_mode() is calls else calls:
            return backward(ctx, *args)

    def grouped(lists: Any, with_indices: bool = False) -> Any:  # optimisers ask below every mode
        device = DEVICES[noted(lists[0][0]) or CPU]
        return {(device, key[1]): own for key, own in by_device(lists, with_indices).items()}

    by_device = torch.optim.Optimizer._group_tensors_by_device_and_dtype
    of_tensors: dict[str, Any] = {"to": to, "type_as": to, "numpy": numpy}
    of_tensors |= {name: lambda tensor, *_, at=name, **__: to(tensor, at) for name in DEVICES}
    of_tensors["device"] = property(lambda tensor: DEVICES[noted(tensor) or CPU])
    of_tensors["is_cuda"] = property(lambda tensor: noted(tensor) == CUDA)
    of_tensors["is_cpu"] = property(lambda tensor: noted(tensor) != CUDA)
    answers = {"is_available": True, "device_count": 1, "get_device_name": "emulated"}
    answers |= dict.fromkeys(("current_device", "memory_allocated", "max_memory_allocated"), 0)
    answers |= dict.fromkeys(("synchronize", "empty_cache", "reset_peak_memory_stats"))
    of_cuda = {name: lambda *_, it=it, **__: it for name, it in answers.items()}
    of_torch = {"Generator": Generator}  # and what no mode sees:
    of_torch["from_numpy"] = lambda array, plain=torch.from_numpy: note(plain(array), CPU)
    with ExitStack() as stack:
        stack.enter_context(mock.patch.multiple(Tensor, **of_tensors))
        stack.enter_context(mock.patch.multiple(torch.cuda, **of_cuda))
        stack.enter_context(mock.patch.multiple(torch, **of_torch))
        place = torch.optim.Optimizer, "_group_tensors_by_device_and_dtype", staticmethod(grouped)
        stack.enter_context(mock.patch.object(*place))
        stack.enter_context(mock.patch.object(BackwardCFunction, "apply", go_backward))
        stack.enter_context(mock.patch.object(graphs, "CudaGraph", Replay))
        stack.enter_context(operations)
        stack.enter_context(calls)
        yield operations


def on_device(chapter: Chapter) -> dict[str, Any]:
    """Run the cells of a chapter in this process, and say what came of it."""
    notebook._measures.clear()
    names: dict[str, Any] = {"__name__": "chapter"}
    error = ""
    with emulated() as cuda, redirect_stdout(io.StringIO()):
        try:
            for cell in chapter.code:
                exec(compile(cell.source, chapter.name, "exec"), names)
                if "parameters" in cell.metadata.get("tags", []):
                    names |= {"profile": "smoke", "device": "cuda", "seed": 0}
        except Exception:  # whatever it is, its chapter's test has to show it
            error = "\n".join(traceback.format_exc().splitlines()[-LINES:])
    pyplot.close("all")
    return {"error": error, "operations": cuda.operations}


def undrawn(figure: Figure, path: Path, **_: Any) -> None:
    """In place of `savefig`."""
    Path(path).write_text("<svg/>", encoding="utf-8")


def main() -> None:
    mpl.use("Agg")
    Figure.savefig = undrawn
    torch.set_num_threads(1)
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BOOKBUILD_OUTPUT"] = folder
        for line in sys.stdin:
            with redirect_stdout(sys.stderr):
                found = on_device(read_chapter(ROOT, line.strip()))
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
