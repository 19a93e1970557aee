"""What is done with a whole run, or with many: export, pictures, comparisons of solvers and sweeps of a key."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _pliant
from ._pliant import InputError
from ._simulation import _override_list

Path = Union[str, "os.PathLike[str]"]
Progress = Callable[[str, int, int], None]


def export(
    run: Path,
    format: Optional[str] = None,
    *,
    out: Optional[Path] = None,
    every: Optional[int] = None,
    colour: Optional[str] = None,
    range: Optional[Sequence[float]] = None,
    volume: bool = False,
    colliders: bool = True,
    visual: bool = False,
) -> str:
    """Writes a finished run for other programs; returns the file or folder to open.

    run:       the folder of a run
    format:    glb, usda, pc2, mdd, ply or obj; by default what `out` ends in, or glb
    out:       file or folder to write; by default in the folder of the run
    every:     takes every n-th frame; by default all, of glb at most 120
    colour:    a field of the frames (stretch, von_mises, speed, displacement, ...); by default a colour per body
    range:     values of the field at the ends of the colour map; by default what occurs
    volume:    every side of every element, in place of the outside of each body
    colliders: with the colliders
    visual:    the visual meshes of bodies that have one, in place of their own surfaces

    >>> sim.run(2.0, out="out/beam")
    >>> pliant.export("out/beam", "glb", colour="stretch")
    'out/beam/beam.glb'
    """
    limits = None if range is None else (float(range[0]), float(range[1]))
    result = _pliant.export_run(run, format or "", out or "", every or 0, volume, colour or "", limits, colliders, visual)
    return str(result["out"])


def picture(
    run: Path,
    *,
    out: Optional[Path] = None,
    film: Optional[Path] = None,
    colour: Optional[str] = None,
    range: Optional[Sequence[float]] = None,
    from_: Optional[Sequence[float]] = None,
    at: Optional[Sequence[float]] = None,
    fov: Optional[float] = None,
    size: Optional[Sequence[int]] = None,
    background: Optional[Sequence[float]] = None,
    legend: Optional[bool] = None,
    stamp: Optional[bool] = None,
    wireframe: Optional[bool] = None,
    shadows: Optional[bool] = None,
    every: int = 1,
    fps: Optional[float] = None,
) -> None:
    """Draws picture.png and film.png of a finished run, or a film. What is not given is as the scene's [picture] says.

    run:        the folder of a run
    out:        the folder of the pictures; by default that of the run
    film:       a file .gif, or .mp4 or .webm (by ffmpeg), in place of the pictures
    colour:     stretch, von_mises, speed, displacement, another field of the frames, or body: one per body
    range:      values of the field at the ends of the colour map
    from_, at:  where the camera is and what it looks at, m
    fov:        field of view, degrees
    size:       width and height, pixels
    background: red, green, blue, each 0 to 1
    legend, stamp, wireframe, shadows: whether they are drawn
    every, fps: of a film: every n-th frame of the run, and pictures a second

    >>> pliant.picture("out/beam", film="beam.gif", from_=(3, 2, 5), at=(1, 0, 0), size=(640, 360))
    """
    if every < 1:
        raise InputError(f"'every' must be at least 1, but is {every}")
    _pliant.draw_run(
        run, out or "", film or "", colour or "", range, from_, at, fov, size, background, legend, stamp, wireframe, shadows, every, fps or 0.0
    )


@dataclass
class Trial:
    """A scene run once, under one solver with one setting. Arrays have an entry per step."""

    solver: str
    setting: str  #: what was changed ("iterations = 5"); "reference" of the reference
    effort: Optional[float]  #: the value of what was swept, where it is a number
    finished: bool  #: took all steps
    detail: str  #: why not
    milliseconds: float  #: median of a step
    iterations: float  #: mean of a step
    error: float  #: root mean square of the distance to the reference over nodes and time, m; inf unless finished
    series: dict[str, NDArray[np.float64]] = field(default_factory=dict)  #: time, distance, ...: see docs


@dataclass
class Comparison:
    """Trials of one scene against a converged reference."""

    scene: str
    size: float  #: diagonal of the bodies' box at rest, m
    reference: Trial
    trials: list[Trial]
    curves: dict[str, list[Trial]]  #: by solver, in the order of effort; without series
    refused: dict[str, str]  #: solvers that cannot run the scene, and why

    def __getitem__(self, name: str) -> Trial:
        """The trial of a solver, or of a value of a sweep."""
        for trial in self.trials:
            if name in (trial.solver if not trial.setting else trial.setting, trial.setting.rpartition("= ")[2]):
                return trial
        raise KeyError(name)


def _array(name: str, values: list[Any]) -> NDArray[np.float64]:
    missing = np.inf if name == "gap" else np.nan  # JSON has neither; a gap to nothing is infinite, as in StepReport
    return np.array([missing if v is None else v for v in values], dtype=np.float64)


def _trial(data: dict[str, Any]) -> Trial:
    error = data["error"]
    if error is None:  # the first of a sweep is what the others are measured against
        error = 0.0 if data["finished"] else np.inf
    return Trial(
        data["solver"],
        data["setting"],
        data["effort"],
        data["finished"],
        data["detail"],
        data["median_milliseconds"],
        data["mean_iterations"],
        error,
        {name: _array(name, values) for name, values in data.get("series", {}).items()},
    )


def _comparison(text: str) -> Comparison:
    data = json.loads(text)
    return Comparison(
        data["scene"],
        data["size"],
        _trial(data["reference"]),
        [_trial(t) for t in data["trials"]],
        {curve["solver"]: [_trial(t) for t in curve["points"]] for curve in data["curves"]},
        {entry["solver"]: entry["reason"] for entry in data["refused"]},
    )


def compare(
    scene: Path,
    solvers: Union[str, Sequence[str]] = "all",
    *,
    reference: str = "pod-newton",
    steps: Optional[int] = None,
    budget: Optional[float] = None,
    curves: bool = True,
    overrides: Mapping[str, Any] | Sequence[str] = (),
    out: Optional[Path] = None,
    progress: Optional[Progress] = None,
) -> Comparison:
    """Runs a scene file under several solvers, against a converged reference.

    solvers:   names, or "all"; those that cannot run the scene are in `refused`, with the reason
    reference: the solver that is run until it has converged
    steps:     in place of the scene's duration
    budget:    milliseconds a step, for the column of the page
    curves:    also sweeps the effort of each solver
    overrides: changes of the scene, as for `Simulation.from_scene`
    out:       a folder for compare.html and compare.json
    progress:  called before each run with what comes next, its number and how many there are

    >>> result = pliant.compare("scenes/jelly.toml", ["newton", "quasi-newton"], steps=30)
    >>> result["quasi-newton"].series["distance"]
    """
    names = [] if solvers == "all" else [solvers] if isinstance(solvers, str) else list(solvers)
    return _comparison(
        _pliant.compare(scene, _override_list(overrides), names, reference, steps or 0, budget or 0.0, curves, out or "", progress)
    )


def sweep(
    scene: Path,
    key: str,
    values: Sequence[object],
    *,
    solver: Optional[str] = None,
    reference: str = "pod-newton",
    steps: Optional[int] = None,
    overrides: Mapping[str, Any] | Sequence[str] = (),
    out: Optional[Path] = None,
    progress: Optional[Progress] = None,
) -> Comparison:
    """Runs a scene file with each of several values of one of its keys.

    Where the key belongs to the solver, distances are to a converged reference; elsewhere to the first value.

    >>> result = pliant.sweep("scenes/jelly.toml", "body.0.young", [4e3, 8e3, 1.6e4], steps=30)
    >>> [trial.milliseconds for trial in result.trials]
    """
    texts = [json.dumps(v) if isinstance(v, (list, bool)) else str(v) for v in values]
    return _comparison(
        _pliant.sweep(scene, _override_list(overrides), solver or "", key, texts, reference, steps or 0, out or "", progress)
    )
