"""What functions of the user are called by, before each step and within it."""

from __future__ import annotations

import inspect
from typing import Any, Callable

import numpy as np

from . import _pliant
from ._pliant import InputError


def numbers_of(value: Any, what: str, expected: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """What a function of the time returned."""
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{what} must return {expected}, but returned {value!r:.60}") from None


class Functions:
    """What an energy from code calls. The native part refers to it weakly: see PythonEnergy."""

    def __init__(self, function: Callable[..., Any], hessian: Callable[..., Any] | None):
        self.function = function
        self.hessian = hessian


class Driver:
    """Motion by a Python function: writes where the nodes of a script belong."""

    def __init__(self, script: str, function: Any, absolute: bool, target: _pliant.DrivenPositions):
        self._script = script
        self._function = function
        self._absolute = absolute
        self._target = target
        self._takes_rest = _takes_two(function)
        self._rest = np.zeros((0, 3))

    def begin(self) -> None:
        self._rest = self._target.get()

    def drive(self, time: float) -> None:
        returned = self._function(time, self._rest) if self._takes_rest else self._function(time)
        value = numbers_of(returned, "a motion", "three numbers or one position for each vertex")
        if value.ndim > 0 and not np.isfinite(value).all():  # a single number is refused for its shape
            raise InputError(
                f"a motion must return finite numbers, but that of the script '{self._script}' returned "
                f"{returned!r:.60} at {time:g} s"
            )
        if not self._absolute and value.shape in ((3,), self._rest.shape):
            value = self._rest + value
        self._target.set(value)


def _takes_two(function: Any) -> bool:
    """Whether a function must be called with two arguments, time and rest positions."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in plain and p.default is p.empty for p in parameters) >= 2
