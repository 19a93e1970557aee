#!/usr/bin/python3
"""One scene, every solver: what each costs and how far the residuals go down.

    PYTHONPATH=build/python /usr/bin/python3 python/examples/compare_solvers.py [SCENE]
"""

import pathlib
import sys
import warnings

import numpy as np

import pliant

SCENES = pathlib.Path(__file__).resolve().parent.parent.parent / "scenes"


def main(scene=SCENES / "twisted-beam.toml", steps=10, overrides=("body.0.box.cells=[12, 3, 3]",)):
    warnings.simplefilter("ignore")  # settings that another solver does not have
    ends = {}
    print(f"{'solver':20} {'iterations':>10} {'ms a step':>10} {'residual N':>12}")
    for name in pliant.solvers():
        try:
            sim = pliant.Simulation.from_scene(scene, list(overrides), solver=name)
            run = sim.run(steps=steps)
        except pliant.InputError as error:  # not every solver takes every material
            print(f"{name:20} {str(error).partition(': ')[2]}")
            continue
        assert run.finished, f"{name}: {run.detail}"
        seconds = sum(report.seconds.total for report in run.reports) / run.steps
        print(f"{name:20} {run.totals.iterations:10} {1e3 * seconds:10.2f} {run.reports[-1].residuals.force:12.3g}")
        ends[name] = sim.positions().copy()
    reference = ends["newton"]
    size = np.ptp(reference, axis=0).max()
    for name in ("projected-newton", "pod-newton", "kinetic-newton"):
        assert np.abs(ends[name] - reference).max() < 1e-3 * size, name


if __name__ == "__main__":
    main(*sys.argv[1:2])
