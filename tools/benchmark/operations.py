"""What some code asks of the machine, operation by operation, and the least time for that."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.benchmark import timer
from torch.utils.flop_counter import flop_registry

# by bytes of a number, what `machine.describe` calls the rate of products
PRODUCTS = {2: "half_product_rate", 4: "product_rate", 8: "double_product_rate"}
CACHED = 2**19  # bytes of arrays that an operation finds in a core's own cache


@dataclass(frozen=True)
class Operation:
    """An operation of PyTorch: multiplications and additions of products, bytes of its arrays."""

    flops: int
    bytes: int
    width: int  # bytes of a number of a product
    name: str = field(default="", compare=False)
    seconds: float = field(default=0.0, compare=False)  # that it took

    def least(self, machine: Mapping[str, Any]) -> float:
        """Seconds that it takes at least, on a machine described by `machine.describe`.

        A product runs at the rate of a large one of its format, or each array is read or written
        once, from the cache if it fits, or the call itself takes longer than both.
        """
        rate = machine["cached_rate"] if self.bytes <= CACHED else machine["copy_rate"]
        products = self.flops / machine[PRODUCTS[self.width]] if self.flops else 0.0
        return max(products, self.bytes / rate, machine["call"])


class Operations(TorchDispatchMode):
    """While it is active, it records every operation except those that only view an array."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Operation] = []
        self._begun: list[int] = []  # how many had been seen whenever it became active

    def __enter__(self) -> "Operations":
        self._begun.append(len(self.seen))
        return super().__enter__()

    def whole(self, period: int) -> tuple[list[Operation], int]:
        """What was seen in a whole number of periods, each so many times of being active."""
        times = len(self._begun) // period * period
        return self.seen[: [*self._begun, len(self.seen)][times]], times

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        start = timer()  # which waits for a GPU
        out = func(*args, **kwargs)
        seconds = timer() - start
        written = [] if func.is_view else [*_tensors(out), *_mutated(func, args, kwargs)]
        if written:
            moved = [*_distinct(_tensors((args, kwargs))), *_distinct(written)]
            count = flop_registry.get(func.overloadpacket)
            self.seen.append(
                Operation(
                    count(*args, **kwargs, out_val=out) if count else 0,
                    sum(map(_bytes, moved)),
                    _tensors(out)[0].element_size() if count else 0,
                    func.overloadpacket.__name__,
                    seconds,
                )
            )
        return out


def _tensors(values: Any) -> list[Tensor]:
    return [value for value in tree_leaves(values) if isinstance(value, Tensor)]


def _distinct(arrays: list[Tensor]) -> Iterable[Tensor]:
    return {id(array): array for array in arrays}.values()


def _mutated(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Tensor]:
    """Yield the arguments that an operation writes to."""
    for place, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            given = args[place] if place < len(args) else kwargs.get(argument.name)
            yield from _tensors(given)


def _bytes(array: Tensor) -> int:
    """Return the bytes behind an array; repeated ones, as in an expanded array, count once."""
    return min(array.numel() * array.element_size(), array.untyped_storage().nbytes())
