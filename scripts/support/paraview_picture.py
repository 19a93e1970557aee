"""In ParaView: opens a run with its colliders and draws its last frame. Arguments: the run's folder, the picture."""

import sys

from paraview.simple import (
    ColorBy,
    CreateRenderView,
    GetColorTransferFunction,
    PVDReader,
    Render,
    SaveScreenshot,
    Show,
    UpdatePipeline,
)

run, picture = sys.argv[-2:]
body, colliders = PVDReader(FileName=run + "/result.pvd"), PVDReader(FileName=run + "/colliders.pvd")
view = CreateRenderView(ViewSize=[480, 270])
view.OrientationAxesVisibility = 0
view.ViewTime = body.TimestepValues[-1]
UpdatePipeline(time=body.TimestepValues[-1], proxy=body)
shown = Show(body, view)
ColorBy(shown, ("CELLS", "stretch"))
colours = GetColorTransferFunction("stretch")
colours.ApplyPreset("Viridis (matplotlib)", True)
colours.RescaleTransferFunction(1, body.CellData["stretch"].GetRange()[1])
Show(colliders, view).Opacity = 0.5
view.UseColorPaletteForBackground = 0
view.Background = [0.91, 0.93, 0.96]
Render(view)  # the first one places the camera by itself
view.CameraPosition, view.CameraFocalPoint, view.CameraViewUp = [0.17, 0.22, 0.42], [0, 0.11, 0], [0, 1, 0]
Render(view)
SaveScreenshot(picture, view)
