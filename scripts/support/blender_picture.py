"""In Blender: opens an export, goes to its last frame and draws it. Arguments after --: format, file, picture."""

import math
import sys

import numpy

numpy.bool = bool  # Debian 12's importer of glTF was written for an older numpy
import bpy  # noqa: E402
from mathutils import Vector  # noqa: E402

kind, path, picture = sys.argv[-3:]
bpy.ops.wm.read_factory_settings(use_empty=True)
if kind == "glb":
    bpy.ops.import_scene.gltf(filepath=path)
elif kind == "ply":
    bpy.ops.import_mesh.ply(filepath=path)
    for thing in bpy.context.selected_objects:  # as it is in the file: y points up
        thing.rotation_euler.x = math.pi / 2
    bpy.context.view_layer.update()
elif kind == "obj":
    bpy.ops.wm.obj_import(filepath=path)
else:
    exec(compile(open(path).read(), path, "exec"), {"__file__": path})

scene = bpy.context.scene
ends = [action.frame_range[1] for action in bpy.data.actions]
scene.frame_set(int(max(ends, default=scene.frame_end if kind in ("pc2", "mdd") else 1)))

graph = bpy.context.evaluated_depsgraph_get()
low, high = Vector([1e9] * 3), Vector([-1e9] * 3)
for thing in bpy.data.objects:
    if thing.type != "MESH" or thing.name.startswith("floor"):
        continue
    for vertex in thing.evaluated_get(graph).to_mesh().vertices:
        at = thing.matrix_world @ vertex.co
        if abs(at.x) < 0.3 and abs(at.y) < 0.3 and abs(at.z) < 0.5:
            low, high = Vector(map(min, low, at)), Vector(map(max, high, at))
centre, size = (low + high) / 2, (high - low).length

for thing in bpy.data.objects:  # the colours of vertices, where a file has no materials
    if thing.type == "MESH" and not thing.data.materials:
        material = bpy.data.materials.new("by vertex")
        thing.data.materials.append(material)
        if thing.data.color_attributes:
            material.use_nodes = True
            colours = material.node_tree.nodes.new("ShaderNodeVertexColor")
            colours.layer_name = thing.data.color_attributes[0].name
            material.node_tree.links.new(colours.outputs[0], material.node_tree.nodes["Principled BSDF"].inputs[0])

camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
scene.collection.objects.link(camera)
camera.location = centre + size * Vector((0.7, -1.5, 0.6))
camera.rotation_euler = (centre - camera.location).to_track_quat("-Z", "Y").to_euler()
scene.camera = camera
lamp = bpy.data.objects.new("lamp", bpy.data.lights.new("lamp", "SUN"))
lamp.data.energy = 3
lamp.data.angle = math.radians(6)
lamp.rotation_euler = (math.radians(40), math.radians(-20), 0)
scene.collection.objects.link(lamp)
world = scene.world or bpy.data.worlds.new("world")
scene.world = world
world.use_nodes = True
world.node_tree.nodes["Background"].inputs[0].default_value = (0.75, 0.8, 0.88, 1)
world.node_tree.nodes["Background"].inputs[1].default_value = 0.7
scene.render.engine = "CYCLES"
scene.cycles.samples = 24
scene.cycles.use_denoising = False  # Debian builds it without
scene.view_settings.view_transform = "Standard"
scene.render.resolution_x, scene.render.resolution_y = 400, 225
scene.render.image_settings.color_mode = "RGB"
scene.render.filepath = picture
bpy.ops.render.render(write_still=True)
