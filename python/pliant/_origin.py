"""Where in the user's code a part of a simulation was described: the counterpart of a scene file's line."""

from __future__ import annotations

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def caller() -> str:
    """ "beam.py:12": the innermost line outside this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(os.path.abspath(frame.f_code.co_filename)) == _HERE:
        frame = frame.f_back
    file = frame.f_code.co_filename
    if os.path.isabs(file):
        relative = os.path.relpath(file)
        file = file if relative.startswith("..") else relative
    return f"{file}:{frame.f_lineno}"
