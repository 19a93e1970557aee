#include "pliant/io/animation/append.hpp"
#include "pliant/io/animation/formats.hpp"

namespace pliant {

std::string write_mdd(const AnimatedSurface& surface, const std::vector<double>& times) {
  std::string file;
  append_bytes<std::endian::big>(file, static_cast<std::int32_t>(times.size()));
  append_bytes<std::endian::big>(file, static_cast<std::int32_t>(surface.vertices()));
  for (double t : times) append_bytes<std::endian::big>(file, static_cast<float>(t));
  for (std::size_t k = 0; k < times.size(); ++k)
    for (float x : surface.positions_at(k)) append_bytes<std::endian::big>(file, x);
  return file;
}

std::string write_pc2(const AnimatedSurface& surface, std::size_t frames) {
  std::string file("POINTCACHE2\0", 12);
  append_bytes<std::endian::little>(file, std::int32_t{1});  // version
  append_bytes<std::endian::little>(file, static_cast<std::int32_t>(surface.vertices()));
  append_bytes<std::endian::little>(file, 0.0f);  // first frame
  append_bytes<std::endian::little>(file, 1.0f);  // frames from sample to sample
  append_bytes<std::endian::little>(file, static_cast<std::int32_t>(frames));
  for (std::size_t k = 0; k < frames; ++k)
    for (float x : surface.positions_at(k)) append_bytes<std::endian::little>(file, x);
  return file;
}

std::string blender_script(const Animation& animation, const std::vector<std::string>& stems,
                           const std::string& format) {
  std::string text = fmt::format(
      "# Loads {} into Blender with its motion: blender --python import_in_blender.py\n"
      "import os\n\nimport bpy\nfrom mathutils import Vector\n\n"
      "FOLDER = os.path.dirname(os.path.abspath(__file__))\n"
      "FRAMES = {}\nUP = ({}, {}, {})\nSURFACES = [  # file, name, colour, opacity\n",
      file_stem(animation.name), animation.frames(), animation.up.x() + 0.0, animation.up.y() + 0.0,
      animation.up.z() + 0.0);  // + 0: no -0
  for (std::size_t s = 0; s < stems.size(); ++s) {
    const AnimatedSurface& surface = animation.surfaces[s];
    const LinearColour c = to_linear(surface.colour);
    append(text, "    ({0:?}, {0:?}, ({1:.4f}, {2:.4f}, {3:.4f}), {4}),\n", stems[s], c[0], c[1], c[2],
           surface.is_collider ? 0.35 : 1.0);
  }
  text += "]\n\n";
  text +=
      "if not bpy.data.filepath and \"Cube\" in bpy.data.objects:  # what Blender begins with\n"
      "    bpy.data.objects.remove(bpy.data.objects[\"Cube\"])\n";
  append(text, "scene = bpy.context.scene\nscene.render.fps = max(1, round({}))\n", animation.rate());
  text +=
      "scene.frame_start, scene.frame_end = 1, FRAMES\n"
      "turn = Vector(UP).rotation_difference(Vector((0, 0, 1)))  # Blender is z-up\n"
      "for stem, name, colour, opacity in SURFACES:\n"
      "    bpy.ops.wm.obj_import(filepath=os.path.join(FOLDER, stem + \".obj\"), forward_axis=\"Y\", up_axis=\"Z\")\n"
      "    thing = bpy.context.selected_objects[0]\n"
      "    thing.name = name\n"
      "    thing.rotation_mode = \"QUATERNION\"\n"
      "    thing.rotation_quaternion = turn\n"
      "    material = bpy.data.materials.new(name)\n"
      "    material.diffuse_color = (*colour, opacity)\n"
      "    material.use_nodes = True\n"
      "    material.blend_method = \"BLEND\" if opacity < 1 else \"OPAQUE\"\n"
      "    shader = material.node_tree.nodes[\"Principled BSDF\"]\n"
      "    shader.inputs[\"Base Color\"].default_value = (*colour, 1)\n"
      "    shader.inputs[\"Alpha\"].default_value = opacity\n"
      "    thing.data.materials.clear()\n"
      "    thing.data.materials.append(material)\n"
      "    thing.data.polygons.foreach_set(\"use_smooth\", [True] * len(thing.data.polygons))\n"
      "    if hasattr(thing.data, \"use_auto_smooth\"):  # edges above 30 degrees stay sharp\n"
      "        thing.data.use_auto_smooth = True\n"
      "    else:  # from Blender 4.1 on\n"
      "        bpy.ops.object.shade_smooth_by_angle()\n"
      "    cache = thing.modifiers.new(\"Pliant\", \"MESH_CACHE\")\n";
  append(text, "    cache.cache_format = \"{}\"\n", format == "pc2" ? "PC2" : "MDD");
  append(text, "    cache.filepath = os.path.join(FOLDER, stem + \".{}\")\n", format);
  text += "    cache.frame_start = 1\n    cache.forward_axis, cache.up_axis = \"POS_Y\", \"POS_Z\"\n";
  return text;
}

}  // namespace pliant
