"""Random orthonormal vectors."""

import torch
from jaxtyping import Float
from torch import Tensor


def orthonormal_rows(
    batch_size: int, count: int, dim: int, generator: torch.Generator, dtype: torch.dtype
) -> Float[Tensor, "batch count dim"]:
    """Orthonormal rows, isotropically drawn (Assumption 7); count <= dim."""
    columns = torch.randn(
        batch_size, dim, count, generator=generator, device=generator.device, dtype=dtype
    )
    if dim >= 2 * count:  # well conditioned: Cholesky's QR is as exact, and quicker
        rows = columns.mT
        for _ in range(2):  # the second time takes away the first one's rounding
            root = torch.linalg.cholesky_ex(rows @ rows.mT).L  # without a look at its success
            rows = torch.linalg.solve_triangular(root, rows, upper=False)
        return rows
    q, r = torch.linalg.qr(columns)
    # LAPACK fixes the signs of r's diagonal; q is isotropic when they are positive instead.
    return (q * r.diagonal(dim1=-2, dim2=-1).sign()[..., None, :]).mT
