#include <algorithm>
#include <set>

#include "pliant/io/animation/append.hpp"
#include "pliant/io/animation/formats.hpp"
#include "pliant/io/build_info.hpp"

namespace pliant {

namespace {

/// A name that USD takes: letters, digits and '_', no digit in front, unlike all others.
std::string prim_name(const std::string& name, std::set<std::string>& used) {
  std::string prim = file_stem(name);
  std::replace(prim.begin(), prim.end(), '-', '_');
  if (prim.empty() || (prim[0] >= '0' && prim[0] <= '9')) prim = "_" + prim;
  std::string distinct = prim;
  for (int n = 2; used.contains(distinct); ++n) distinct = fmt::format("{}_{}", prim, n);
  used.insert(distinct);
  return distinct;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 32 ? ' ' : c;
  }
  return out + "\"";
}

void append_vectors(std::string& text, const std::vector<float>& numbers) {
  text += '[';
  for (std::size_t i = 0; i + 2 < numbers.size(); i += 3)
    append(text, "{}({}, {}, {})", i > 0 ? ", " : "", numbers[i], numbers[i + 1], numbers[i + 2]);
  text += ']';
}

std::vector<float> bounds_of(const std::vector<float>& positions) {
  std::vector<float> bounds(positions.begin(), positions.begin() + 3);
  bounds.insert(bounds.end(), positions.begin(), positions.begin() + 3);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    bounds[i % 3] = std::min(bounds[i % 3], positions[i]);
    bounds[3 + i % 3] = std::max(bounds[3 + i % 3], positions[i]);
  }
  return bounds;
}

/// An attribute as it is at first, which is what programs without a sense of time take, and where it changes by samples
/// at the time codes 0, 1, 2, ...
template <class Value>
void append_samples(std::string& text, const std::string& declaration, std::size_t samples, Value&& value,
                    const std::string& metadata = "") {
  append(text, "            {} = ", declaration);
  append_vectors(text, value(0));
  text += metadata + "\n";
  if (samples == 1) return;
  append(text, "            {}.timeSamples = {{\n", declaration);
  for (std::size_t k = 0; k < samples; ++k) {
    append(text, "                {}: ", k);
    append_vectors(text, value(k));
    text += ",\n";
  }
  text += "            }\n";
}

void append_mesh(std::string& text, const Animation& animation, const AnimatedSurface& surface, const std::string& prim,
                 const std::string& root) {
  append(text, "    def Xform \"{}\"\n    {{\n        def Mesh \"Mesh\" (\n            displayName = {}\n", prim,
         quoted(surface.name));
  text +=
      "            prepend apiSchemas = [\"MaterialBindingAPI\"]\n        )\n        {\n            uniform bool "
      "doubleSided = 1\n";
  append_samples(text, "float3[] extent", surface.positions.size(),
                 [&](std::size_t k) { return bounds_of(surface.positions[k]); });
  append(text, "            int[] faceVertexCounts = [");
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) text += t > 0 ? ", 3" : "3";
  text += "]\n            int[] faceVertexIndices = [";
  for (std::size_t t = 0; t < surface.triangles.size(); ++t)
    append(text, "{}{}, {}, {}", t > 0 ? ", " : "", surface.triangles[t][0], surface.triangles[t][1],
           surface.triangles[t][2]);
  append(text, "]\n            rel material:binding = </{}/Materials/{}>\n", root, prim);
  append_samples(text, "point3f[] points", surface.positions.size(),
                 [&](std::size_t k) { return surface.positions[k]; });
  if (!surface.texture.empty()) {
    text += "            texCoord2f[] primvars:st = [";
    for (std::size_t v = 0; v < surface.texture.size(); v += 2)
      append(text, "{}({}, {})", v > 0 ? ", " : "", surface.texture[v], surface.texture[v + 1]);
    text += "] (\n                interpolation = \"vertex\"\n            )\n";
  }
  const auto colours = [&](std::size_t frame) {
    std::vector<float> all;
    const std::size_t count = surface.values.empty() ? 1 : surface.vertices();
    for (std::size_t v = 0; v < count; ++v)
      for (double c : to_linear(animation.colour_of(surface, frame, v))) all.push_back(static_cast<float>(c));
    return all;
  };
  append_samples(text, "color3f[] primvars:displayColor", std::max<std::size_t>(surface.values.size(), 1), colours,
                 fmt::format(" (\n                interpolation = \"{}\"\n            )",
                             surface.values.empty() ? "constant" : "vertex"));
  text += "            uniform token subdivisionScheme = \"none\"\n        }\n    }\n\n";
}

void append_material(std::string& text, const AnimatedSurface& surface, const std::string& prim,
                     const std::string& root) {
  const std::string path = fmt::format("/{}/Materials/{}", root, prim);
  append(text, "        def Material \"{}\"\n        {{\n", prim);
  append(text, "            token outputs:surface.connect = <{}/Surface.outputs:surface>\n\n", path);
  text +=
      "            def Shader \"Surface\"\n            {\n                uniform token info:id = "
      "\"UsdPreviewSurface\"\n";
  if (surface.values.empty()) {
    const LinearColour c = to_linear(surface.colour);
    append(text, "                color3f inputs:diffuseColor = ({:.6g}, {:.6g}, {:.6g})\n", c[0], c[1], c[2]);
  } else {
    append(text, "                color3f inputs:diffuseColor.connect = <{}/Colour.outputs:result>\n", path);
  }
  if (surface.is_collider) text += "                float inputs:opacity = 0.35\n";
  text += "                float inputs:roughness = 0.55\n                token outputs:surface\n            }\n";
  if (!surface.values.empty())
    text +=
        "\n            def Shader \"Colour\"\n            {\n                uniform token info:id = "
        "\"UsdPrimvarReader_float3\"\n                string inputs:varname = \"displayColor\"\n                "
        "float3 outputs:result\n            }\n";
  text += "        }\n";
}

}  // namespace

std::string write_usda(const Animation& animation) {
  std::set<std::string> used = {"Materials"};
  const std::string root = prim_name(animation.name, used);
  // USD knows two directions that are up; others keep their coordinates under the nearer one.
  const bool z_up = std::abs(animation.up.z()) > std::abs(animation.up.y());
  std::string text = "#usda 1.0\n(\n";
  append(text, "    defaultPrim = \"{}\"\n    doc = \"Made by pliant {}\"\n", root, version());
  append(text, "    endTimeCode = {}\n    framesPerSecond = {:.9g}\n", animation.frames() - 1, animation.rate());
  append(text, "    metersPerUnit = 1\n    startTimeCode = 0\n    timeCodesPerSecond = {:.9g}\n", animation.rate());
  append(text, "    upAxis = \"{}\"\n)\n\ndef Xform \"{}\"\n{{\n", z_up ? "Z" : "Y", root);
  std::vector<std::string> prims;
  for (const AnimatedSurface& surface : animation.surfaces) {
    prims.push_back(prim_name(surface.name, used));
    append_mesh(text, animation, surface, prims.back(), root);
  }
  text += "    def Scope \"Materials\"\n    {\n";
  for (std::size_t s = 0; s < prims.size(); ++s) append_material(text, animation.surfaces[s], prims[s], root);
  text += "    }\n}\n";
  return text;
}

}  // namespace pliant
