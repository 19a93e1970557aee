from __future__ import annotations

from typing import Iterator, MutableMapping

from . import _pliant
from ._pliant import InputError


class Activations(MutableMapping[str, float]):
    """The activations of a simulation's muscles by name: a view of its state."""

    def __init__(self, core: _pliant.Simulation):
        self._core = core
        self._names = [name for name, _ in core.muscles()]

    def _index(self, name: str) -> int:
        if name not in self._names:
            raise InputError(f"there is no muscle '{name}'; this simulation has {', '.join(self._names) or 'none'}")
        return self._names.index(name)

    def __getitem__(self, name: str) -> float:
        return self._core.state.activation[self._index(name)]

    def __setitem__(self, name: str, value: float) -> None:
        if not 0 <= value <= 1:
            raise InputError(f"the activation of muscle '{name}' lies between 0 and 1, but is {value}")
        values = self._core.state.activation
        values[self._index(name)] = float(value)
        self._core.state.activation = values

    def __delitem__(self, name: str) -> None:
        raise InputError("muscles cannot be removed; set the activation to 0")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return repr(dict(self))
