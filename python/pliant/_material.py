from __future__ import annotations

from typing import Any, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _pliant
from ._origin import caller


class Material:
    """A law of elasticity with its parameters; `pliant.material` makes one.

    It gives a body what it is made of, and can be evaluated by itself: F, the deformation gradient, has the shape
    (..., 3, 3), and as many values come back.
    """

    def __init__(self, law: str, parameters: Mapping[str, Any], origin: str | None = None):
        self._law = law
        self._parameters = dict(parameters)
        self._native = _pliant.MaterialLaw({"material": law, **parameters}, origin or caller())

    @property
    def law(self) -> str:
        """Name of the law, as `pliant.laws()` lists it."""
        return self._law

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters as they were given."""
        return dict(self._parameters)

    @property
    def mu(self) -> float:
        """Shear modulus, Pa."""
        return self._native.mu

    @property
    def lambda_(self) -> float:
        """First Lame parameter, Pa."""
        return self._native.lambda_

    def energy(self, F: ArrayLike) -> Any:
        """Strain-energy density, J/m^3, of shape (...); infinite outside the law's domain."""
        return self._native.energy(F)

    def stress(self, F: ArrayLike) -> NDArray[np.float64]:
        """First Piola stress P = d energy / dF, Pa, of shape (..., 3, 3)."""
        return self._native.stress(F)

    def hessian(self, F: ArrayLike, projection: str = "none") -> NDArray[np.float64]:
        """dP/dF, Pa: entry [..., i, j, k, l] is dP_ij / dF_kl. `reshape(..., 9, 9)` makes symmetric matrices of it.

        projection: "none"; "analytic" clamps negative eigenvalues in closed form, as the solvers do; "numerical" clamps
        them by an eigendecomposition.
        """
        return self._native.hessian(F, projection)

    def __repr__(self) -> str:
        values = "".join(f", {key}={value!r}" for key, value in self._parameters.items())
        return f"pliant.material({self._law!r}{values})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Material):
            return NotImplemented
        return self._law == other._law and self._parameters == other._parameters

    def __reduce__(self) -> tuple[Any, ...]:
        return Material, (self._law, self._parameters, "a pickled material")


def material(law: str = "neo-hookean", **parameters: Any) -> Material:
    """A material: a law and its parameters.

    Stiffness is given by young (Pa) and poisson, or by mu and lambda_ (Pa). `pliant.laws()` lists the laws. All keys of
    a [[body]] that describe its material may be given; a trailing underscore is dropped, so that lambda_ is lambda.

    >>> pliant.material("fixed-corotated", young=1e5, poisson=0.3).stress(F)
    """
    return Material(law, {key.rstrip("_"): value for key, value in parameters.items()})
