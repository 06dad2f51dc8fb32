"""Closed forms of §6 and App. B, their gradient flows, and emergence times.

`reduced` has the loss when the query asks for the last pair, `uniform` when it asks for any,
`contexts` for repeated pairs and for layers that see a window; `flow` goes down all of them,
`times` says when parameters emerge, and `emergence` does both by the number of pairs.
`laws` has the times for many pairs. `full` is all 19 pseudo-parameters at once,
and `gaussian` counts the steps that training on Gaussian data takes.
"""

from .emergence import emergence_times, gradient_descent, gradient_flow, landscape_of
from .flow import Path, Rates, Trajectory, descent_in, flow_in
from .full import full_gradient, full_loss, output_noise
from .gaussian import PredictedSteps, crossover_time, first_steps, gaussian_rates, predicted_steps
from .integral import first_integral, first_integral_drift
from .landscape import Landscape
from .reduced import reduced_gradient, reduced_loss, retrieval, signal
from .times import EmergenceTimes, times_in
from .uniform import uniform_gradient, uniform_loss

__all__ = [
    "EmergenceTimes",
    "Landscape",
    "Path",
    "PredictedSteps",
    "Rates",
    "Trajectory",
    "crossover_time",
    "descent_in",
    "emergence_times",
    "first_integral",
    "first_integral_drift",
    "first_steps",
    "flow_in",
    "full_gradient",
    "full_loss",
    "gaussian_rates",
    "gradient_descent",
    "gradient_flow",
    "landscape_of",
    "output_noise",
    "predicted_steps",
    "reduced_gradient",
    "reduced_loss",
    "retrieval",
    "signal",
    "times_in",
    "uniform_gradient",
    "uniform_loss",
]
