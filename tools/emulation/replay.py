"""CUDA graphs without CUDA: operations are recorded once and done again on the same arrays.

A graph does not run Python again: numbers that it computed, branches that it took and tensors that
it exchanged are those of the recording. Work that relies on them fails here as on a GPU: its bits
are not those of the eager loop. What a capture refuses is refused: reading a value, a shape that
depends on data, arrays from main memory, libraries that allocate, and streams that are no part of
the descent, the default stream among them.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest import mock

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from emergence.running import graphs

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


class NotCapturable(Exception):
    """What a CUDA graph could not record."""


def launches(work: Callable[[], Any]) -> int:
    """How many kernels a GPU would be given for some work, but for copies inside of operations."""
    with _Counting() as counting:
        work()
    return counting.count


class _Counting(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += not (func.is_view or func.overloadpacket.__name__ in NO_KERNEL)
        return func(*args, **(kwargs or {}))


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
        given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        self._check(func, args, kwargs)
        known = set(map(_address, given))
        if func._schema.is_mutable:
            for tensor in given:
                if (at := _address(tensor)) not in self._made | self._before.keys():
                    self._before[at] = tensor.untyped_storage(), tensor.untyped_storage().clone()
        with torch._C.DisableTorchFunction():
            out = func(*args, **kwargs)
        results = [leaf for leaf in tree_leaves(out) if isinstance(leaf, Tensor)]
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
                again = [
                    leaf for leaf in tree_leaves(func(*args, **kwargs)) if isinstance(leaf, Tensor)
                ]
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
