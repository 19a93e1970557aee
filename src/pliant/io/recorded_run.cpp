#include "pliant/io/recorded_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "pliant/base/error.hpp"
#include "pliant/base/file_content.hpp"
#include "pliant/base/parse_number.hpp"
#include "pliant/mesh/formats/vtu_reader.hpp"
#include "pliant/mesh/formats/xml_scanner.hpp"

namespace pliant {

namespace {

std::vector<RecordedRun::Frame> read_list(const std::filesystem::path& folder, const char* name) {
  std::vector<RecordedRun::Frame> frames;
  const FileContent content(folder / name);
  XmlScanner scanner(content.bytes(), (folder / name).string());
  for (XmlScanner::Tag tag = scanner.next(); tag.kind != XmlScanner::Kind::end; tag = scanner.next()) {
    if (tag.kind != XmlScanner::Kind::open || tag.name != "DataSet") continue;
    const std::filesystem::path file(tag.attributes["file"]);
    // A list leads to the frames beside it and nowhere else.
    if (file.empty() || file.is_absolute() || std::find(file.begin(), file.end(), "..") != file.end())
      scanner.fail("a frame is outside its folder: it must be a file below that of the list");
    const std::optional<double> time = parse_number(tag.attributes["timestep"]);
    if (!time) scanner.fail("a frame without a time");
    frames.push_back({*time, folder / file});
  }
  return frames;
}

std::optional<Vec3> vector_at(const nlohmann::json& json, const char* key) {
  if (!json.contains(key)) return std::nullopt;
  const auto v = json.at(key).get<std::array<double, 3>>();
  return Vec3(v[0], v[1], v[2]);
}

ScenePicture picture_from(const nlohmann::json& json) {
  ScenePicture picture;
  picture.from = vector_at(json, "from");
  picture.at = vector_at(json, "at");
  picture.background = vector_at(json, "background");
  picture.field_of_view = json.at("fov").get<double>();
  picture.colour = json.at("colour").get<std::string>();
  if (json.contains("range")) picture.range = json.at("range").get<std::array<double, 2>>();
  const auto size = json.at("size").get<std::array<int, 2>>();
  picture.width = size[0];
  picture.height = size[1];
  picture.legend = json.at("legend").get<bool>();
  picture.stamp = json.at("stamp").get<bool>();
  picture.wireframe = json.at("wireframe").get<bool>();
  picture.shadows = json.at("shadows").get<bool>();
  return picture;
}

Tie spring_from(const nlohmann::json& json) {
  Tie spring;
  spring.nodes = json.at("nodes").get<std::vector<Index>>();
  spring.weights = json.at("weights").get<std::vector<double>>();
  spring.weights.resize(spring.nodes.size(), 0.0);
  spring.offset = vector_at(json, "offset").value_or(Vec3::Zero());
  spring.rest_length = json.at("rest_length").get<double>();
  // Runs of before it was written: the nodes of the first end come first, and have positive weights.
  const auto other = std::find_if(spring.weights.begin(), spring.weights.end(), [](double w) { return w < 0; });
  spring.first_end = json.value("first_end", static_cast<std::size_t>(other - spring.weights.begin()));
  for (Index& node : spring.nodes) node = std::max(node, Index{0});
  return spring;
}

}  // namespace

RecordedRun::RecordedRun(std::filesystem::path folder) : folder_(std::move(folder)) {
  if (!std::filesystem::exists(folder_ / "result.pvd"))
    throw InputError(fmt::format(
        "{} has no result.pvd: it is not the folder of a run, or the run has written no frame yet", folder_.string()));
  frames_ = read_list(folder_, "result.pvd");
  if (frames_.empty()) throw InputError(fmt::format("{}/result.pvd lists no frames", folder_.string()));
  if (std::filesystem::exists(folder_ / "colliders.pvd")) colliders_ = read_list(folder_, "colliders.pvd");
  if (std::filesystem::exists(folder_ / "visual.pvd")) visual_ = read_list(folder_, "visual.pvd");
  name_ = std::filesystem::weakly_canonical(folder_).filename().string();
  if (!std::filesystem::exists(folder_ / "summary.json")) return;
  using Parsed = nlohmann::json;
  const Parsed summary = Parsed::parse(FileContent(folder_ / "summary.json").bytes(), nullptr, false);
  // A summary is welcome but not needed: what it does not say keeps its default.
  try {
    const Parsed& scene = summary.at("scene");
    name_ = scene.at("name").get<std::string>();
    title_ = scene.at("title").get<std::string>();
    for (const Parsed& body : scene.at("bodies")) {
      bodies_.push_back(body.at("name").get<std::string>());
      rigid_.push_back(body.value("rigid", false));
    }
    const auto g = scene.at("gravity").get<std::array<double, 3>>();
    if (const Vec3 gravity(g[0], g[1], g[2]); gravity.norm() > 0) up_ = -gravity.normalized();
    picture_ = picture_from(scene.at("picture"));
    for (const Parsed& spring : scene.value("springs", Parsed::array())) springs_.push_back(spring_from(spring));
  } catch (const Parsed::exception&) {
  }
}

std::string RecordedRun::body_name(std::size_t body) const {
  return body < bodies_.size() && !bodies_[body].empty() ? bodies_[body] : fmt::format("body {}", body);
}

VtkGrid RecordedRun::read(const Frame& frame) {
  const FileContent content(frame.file);
  VtkGrid grid = read_vtu_grid(content.bytes(), frame.file.string());
  const auto points = static_cast<std::int64_t>(grid.points.size());
  std::int64_t begin = 0;
  for (std::int64_t end : grid.ends) {
    if (end < begin + 3 || end > static_cast<std::int64_t>(grid.connectivity.size()))
      throw InputError(fmt::format("{}: a cell is neither a tetrahedron nor a triangle", frame.file.string()));
    begin = end;
  }
  for (std::int64_t i : grid.connectivity)
    if (i < 0 || i >= points)
      throw InputError(fmt::format("{}: a cell names point {}, but there are {}", frame.file.string(), i, points));
  return grid;
}

const VtkArray* find_array(const std::vector<VtkArray>& arrays, std::string_view name) {
  const auto found = std::find_if(arrays.begin(), arrays.end(), [&](const VtkArray& a) { return a.name == name; });
  return found == arrays.end() ? nullptr : &*found;
}

std::string region_name(const VtkGrid& grid, std::size_t region, const std::string& fallback) {
  const std::string prefix = fmt::format("{} ", region);
  for (const std::string& line : grid.region_names)
    if (line.starts_with(prefix) && line.size() > prefix.size()) return line.substr(prefix.size());
  return fallback;
}

std::vector<double> numbers_of(const VtkArray* array) {
  if (!array) return {};
  return std::visit([](const auto& v) { return std::vector<double>(v.begin(), v.end()); }, array->values);
}

}  // namespace pliant
