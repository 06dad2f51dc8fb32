"""What tests of the science assert beside equality."""

import pytest
import torch

from draws import normal, stream


def refused(error, message, function, *arguments, **options):
    """Assert that the call raises this error, with a message that matches, or any for None."""
    with pytest.raises(error, match=message):
        function(*arguments, **options)


def same_gradients(close, one, other, parameters, tolerance=1e-10):
    """Assert that two tensors have the same gradient of a random sum over their entries."""
    weight, options = normal(stream(9), *one.shape), {"retain_graph": True, "allow_unused": True}
    ours, theirs = (
        torch.autograd.grad((result * weight).sum(), parameters, **options)
        for result in (one, other)
    )
    close(ours, theirs, tolerance)
