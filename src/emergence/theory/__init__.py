"""Closed forms of §6 and App. B, their gradient flows, and emergence times.

The functions of this package take the number of pairs, or any landscape: a loss with its gradient.
Its modules contain further landscapes, laws for many pairs, and the area law.
"""

from ._flow import (
    UNIT,
    Crossing,
    EmergenceTimes,
    Landscape,
    Point,
    Rates,
    Trajectory,
    descent_in,
    flow_in,
    times_in,
)
from ._loss import landscape_of_chances
from ._population import (
    Model,
    PredictedSteps,
    crossover_time,
    emergence_times,
    first_integral,
    first_steps,
    gaussian_rates,
    gradient_descent,
    gradient_flow,
    landscape_of,
    predicted_steps,
)
from ._reduced import reduced_gradient, reduced_loss, retrieval, signal

__all__ = [
    "UNIT",
    "Crossing",
    "EmergenceTimes",
    "Landscape",
    "Model",
    "Point",
    "PredictedSteps",
    "Rates",
    "Trajectory",
    "crossover_time",
    "descent_in",
    "emergence_times",
    "first_integral",
    "first_steps",
    "flow_in",
    "gaussian_rates",
    "gradient_descent",
    "gradient_flow",
    "landscape_of",
    "landscape_of_chances",
    "predicted_steps",
    "reduced_gradient",
    "reduced_loss",
    "retrieval",
    "signal",
    "times_in",
]
