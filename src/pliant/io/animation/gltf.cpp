#include <algorithm>
#include <nlohmann/json.hpp>

#include "pliant/io/animation/append.hpp"
#include "pliant/io/animation/creases.hpp"
#include "pliant/io/animation/formats.hpp"
#include "pliant/io/build_info.hpp"
#include "pliant/math/turn.hpp"

namespace pliant {

namespace {

using Json = nlohmann::ordered_json;

// Numbers that the specification (Khronos, glTF 2.0, 5.1 and 5.11) gives things.
constexpr int kFloat = 5126, kUnsignedInt = 5125, kVertices = 34962, kIndices = 34963;

/// The JSON part of the file and the bytes it points into.
class GltfFile {
 public:
  Json json;

  GltfFile() { json = {{"asset", {{"version", "2.0"}, {"generator", "pliant " + version()}}}}; }

  enum class Bounds { none, given };
  /// Appends numbers and returns the accessor's index; `target` 0: not for a graphics processor's buffer.
  int add(const std::vector<float>& numbers, const char* type, std::size_t components, int target, Bounds bounds) {
    const int view =
        add_view(std::string_view(reinterpret_cast<const char*>(numbers.data()), 4 * numbers.size()), target);
    Json accessor = {
        {"bufferView", view}, {"componentType", kFloat}, {"count", numbers.size() / components}, {"type", type}};
    if (bounds == Bounds::given) {
      std::vector<float> low(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(components)), high = low;
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        low[i % components] = std::min(low[i % components], numbers[i]);
        high[i % components] = std::max(high[i % components], numbers[i]);
      }
      accessor["min"] = std::vector<double>(low.begin(), low.end());
      accessor["max"] = std::vector<double>(high.begin(), high.end());
    }
    return append_to("accessors", std::move(accessor));
  }
  int add_indices(const std::vector<Triangle>& triangles) {
    const int view =
        add_view(std::string_view(reinterpret_cast<const char*>(triangles.data()), 12 * triangles.size()), kIndices);
    return append_to(
        "accessors",
        {{"bufferView", view}, {"componentType", kUnsignedInt}, {"count", 3 * triangles.size()}, {"type", "SCALAR"}});
  }
  int append_to(const char* list, Json entry) {
    json[list].push_back(std::move(entry));
    return static_cast<int>(json[list].size()) - 1;
  }
  /// Header, JSON and bytes (4.4): all lengths are multiples of four, all numbers little-endian.
  std::string content() {
    json["buffers"] = Json::array({{{"byteLength", bytes_.size()}}});
    std::string text = json.dump();
    text.resize((text.size() + 3) / 4 * 4, ' ');
    std::string file = "glTF";
    const auto number = [&](std::size_t n) { append_bytes<std::endian::little>(file, static_cast<std::uint32_t>(n)); };
    number(2);
    number(12 + 8 + text.size() + 8 + bytes_.size());
    number(text.size());
    file += "JSON" + text;
    number(bytes_.size());
    file += std::string("BIN\0", 4) + bytes_;
    return file;
  }

 private:
  int add_view(std::string_view bytes, int target) {
    Json view = {{"buffer", 0}, {"byteOffset", bytes_.size()}, {"byteLength", bytes.size()}};
    if (target != 0) view["target"] = target;
    bytes_.append(bytes);
    return append_to("bufferViews", std::move(view));
  }

  std::string bytes_;
};

std::vector<float> difference(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> c(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) c[i] = a[i] - b[i];
  return c;
}

/// Proportional to light, as the format wants vertex colours.
std::vector<float> linear_colours(const Animation& animation, const AnimatedSurface& surface, std::size_t frame,
                                  const CreasedSurface& creased) {
  std::vector<float> colours;
  for (Index v : creased.origin)
    for (double c : to_linear(animation.colour_of(surface, frame, at(v)))) colours.push_back(static_cast<float>(c));
  return colours;
}

int add_material(GltfFile& file, const AnimatedSurface& surface) {
  const LinearColour c = to_linear(surface.values.empty() ? surface.colour : Colour{1, 1, 1});
  Json material = {{"name", surface.name},
                   {"pbrMetallicRoughness",
                    {{"baseColorFactor", {c[0], c[1], c[2], surface.is_collider ? 0.35 : 1.0}},
                     {"metallicFactor", 0.0},
                     {"roughnessFactor", 0.55}}},
                   {"doubleSided", true}};
  if (surface.is_collider) material["alphaMode"] = "BLEND";
  return file.append_to("materials", std::move(material));
}

/// Mesh and node of a surface. Returns the node.
int add_surface(GltfFile& file, const Animation& animation, const AnimatedSurface& surface) {
  const CreasedSurface creased = split_creases(surface.triangles, surface.positions.front());
  const std::vector<float> x0 = creased.positions(surface.positions.front());
  const std::vector<float> n0 = creased.normals(surface.positions.front());
  Json primitive = {{"attributes",
                     {{"POSITION", file.add(x0, "VEC3", 3, kVertices, GltfFile::Bounds::given)},
                      {"NORMAL", file.add(n0, "VEC3", 3, kVertices, GltfFile::Bounds::none)}}},
                    {"indices", file.add_indices(creased.triangles)},
                    {"material", add_material(file, surface)}};
  if (!surface.texture.empty()) {  // whose second coordinate grows downwards here
    std::vector<float> texture;
    for (Index v : creased.origin) {
      texture.push_back(surface.texture[2 * at(v)]);
      texture.push_back(1 - surface.texture[2 * at(v) + 1]);
    }
    primitive["attributes"]["TEXCOORD_0"] = file.add(texture, "VEC2", 2, kVertices, GltfFile::Bounds::none);
  }
  std::vector<float> c0;
  if (!surface.values.empty()) {
    c0 = linear_colours(animation, surface, 0, creased);
    primitive["attributes"]["COLOR_0"] = file.add(c0, "VEC3", 3, kVertices, GltfFile::Bounds::none);
  }
  Json names = Json::array();
  const std::size_t frames = std::max(surface.positions.size(), surface.values.size());
  for (std::size_t k = 1; k < frames; ++k) {
    const std::vector<float>& x = surface.positions_at(k);
    Json target = {
        {"POSITION", file.add(difference(creased.positions(x), x0), "VEC3", 3, kVertices, GltfFile::Bounds::given)},
        {"NORMAL", file.add(difference(creased.normals(x), n0), "VEC3", 3, kVertices, GltfFile::Bounds::none)}};
    if (!c0.empty())
      target["COLOR_0"] = file.add(difference(linear_colours(animation, surface, k, creased), c0), "VEC3", 3, kVertices,
                                   GltfFile::Bounds::none);
    primitive["targets"].push_back(std::move(target));
    names.push_back(fmt::format("t = {:.4g} s", animation.times[k]));
  }
  Json mesh = {{"name", surface.name}, {"primitives", Json::array({std::move(primitive)})}};
  if (!names.empty()) {
    mesh["weights"] = std::vector<int>(names.size(), 0);
    mesh["extras"] = {{"targetNames", std::move(names)}};
  }
  const int mesh_index = file.append_to("meshes", std::move(mesh));
  return file.append_to("nodes", {{"name", surface.name}, {"mesh", mesh_index}});
}

/// At key k the target of frame k has all the weight, the first frame being the mesh itself.
std::vector<float> weights_over(std::size_t frames) {
  std::vector<float> weights(frames * (frames - 1), 0.0f);
  for (std::size_t k = 1; k < frames; ++k) weights[k * (frames - 1) + k - 1] = 1.0f;
  return weights;
}

}  // namespace

std::string write_glb(const Animation& animation) {
  GltfFile file;
  Json children = Json::array(), channels = Json::array();
  std::vector<int> moving;
  for (const AnimatedSurface& surface : animation.surfaces) {
    const int node = add_surface(file, animation, surface);
    children.push_back(node);
    if (std::max(surface.positions.size(), surface.values.size()) > 1) moving.push_back(node);
  }
  // The format is y-up.
  const Eigen::Quaterniond turn = turn_between(animation.up, Vec3::UnitY());
  Json root = {{"name", animation.name}, {"children", std::move(children)}};
  if (turn.vec().norm() > 1e-9) root["rotation"] = {turn.x(), turn.y(), turn.z(), turn.w()};
  const int root_index = file.append_to("nodes", std::move(root));
  file.json["scenes"] = Json::array({{{"name", animation.name}, {"nodes", {root_index}}}});
  file.json["scene"] = 0;
  if (!moving.empty()) {
    std::vector<float> seconds;
    for (double t : animation.times) seconds.push_back(static_cast<float>(t - animation.times.front()));
    const int input = file.add(seconds, "SCALAR", 1, 0, GltfFile::Bounds::given);
    const int output = file.add(weights_over(animation.frames()), "SCALAR", 1, 0, GltfFile::Bounds::none);
    for (int node : moving) channels.push_back({{"sampler", 0}, {"target", {{"node", node}, {"path", "weights"}}}});
    file.json["animations"] =
        Json::array({{{"name", animation.name},
                      {"samplers", Json::array({{{"input", input}, {"output", output}, {"interpolation", "LINEAR"}}})},
                      {"channels", std::move(channels)}}});
  }
  return file.content();
}

}  // namespace pliant
