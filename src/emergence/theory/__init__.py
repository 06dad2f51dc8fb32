"""Closed forms of §6 and App. B, their gradient flows, and emergence times.

The functions of this package take the number of pairs, or any landscape: a loss with its gradient.
Its modules contain further landscapes, laws for many pairs, and the area law.
"""

from ._flow import UNIT, Crossing, Landscape, Point, Rates, Trajectory, descent_in, flow_in
from ._gaussian import PredictedSteps, crossover_time, first_steps, gaussian_rates, predicted_steps
from ._loss import landscape_of_chances
from ._population import (
    Model,
    emergence_times,
    first_integral,
    gradient_descent,
    gradient_flow,
    landscape_of,
)
from ._reduced import reduced_gradient, reduced_loss, retrieval, signal
from ._times import EmergenceTimes, times_in

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
