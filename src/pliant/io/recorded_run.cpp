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

/// The files that a .pvtu lists.
std::vector<std::filesystem::path> pieces_of(const std::filesystem::path& file) {
  std::vector<std::filesystem::path> pieces;
  const FileContent content(file);
  XmlScanner scanner(content.bytes(), file.string());
  for (XmlScanner::Tag tag = scanner.next(); tag.kind != XmlScanner::Kind::end; tag = scanner.next()) {
    if (tag.kind != XmlScanner::Kind::open || tag.name != "Piece") continue;
    const std::filesystem::path name(tag.attributes["Source"]);
    if (name.empty() || name.has_parent_path() || name == "..") scanner.fail("a piece is not beside its list");
    pieces.push_back(file.parent_path() / name);
  }
  if (pieces.empty()) scanner.fail("it lists no pieces");
  return pieces;
}

/// Numbers of one more piece: those of points go where its nodes belong, those of cells behind the others.
void merge(std::vector<VtkArray>& into, const std::vector<VtkArray>& from, const std::vector<std::int64_t>* nodes,
           std::size_t points) {
  for (const VtkArray& array : from) {
    auto found = std::find_if(into.begin(), into.end(), [&](const VtkArray& a) { return a.name == array.name; });
    if (found == into.end()) found = into.insert(into.end(), {array.name, array.components, std::vector<double>()});
    auto& to = std::get<std::vector<double>>(found->values);
    const std::vector<double> values = numbers_of(&array);
    if (!nodes) {
      to.insert(to.end(), values.begin(), values.end());
      continue;
    }
    const auto width = static_cast<std::size_t>(array.components);
    to.resize(points * width);
    for (std::size_t i = 0; i < nodes->size(); ++i)
      for (std::size_t c = 0; c < width; ++c) to[at((*nodes)[i]) * width + c] = values[i * width + c];
  }
}

/// The grid that several processes have written in pieces, with its points in the order of the whole model's nodes.
VtkGrid read_pieces(const std::filesystem::path& file) {
  VtkGrid whole;
  for (const std::filesystem::path& piece : pieces_of(file)) {
    const FileContent content(piece);
    const VtkGrid part = read_vtu_grid(content.bytes(), piece.string());
    std::vector<std::int64_t> nodes;
    for (double number : numbers_of(find_array(part.point_data, "node"))) {
      if (!(number >= 0 && number < 1e9)) throw InputError(fmt::format("{}: no node has this number", piece.string()));
      nodes.push_back(static_cast<std::int64_t>(number));
    }
    if (nodes.size() != part.points.size())
      throw InputError(fmt::format("{}: its points have no numbers in the whole", piece.string()));
    for (std::int64_t i : nodes)
      if (whole.points.size() <= static_cast<std::size_t>(i)) whole.points.resize(static_cast<std::size_t>(i) + 1);
    for (std::size_t i = 0; i < nodes.size(); ++i) whole.points[at(nodes[i])] = part.points[i];
    const auto behind = static_cast<std::int64_t>(whole.connectivity.size());
    for (std::int64_t i : part.connectivity) {
      if (i < 0 || i >= static_cast<std::int64_t>(nodes.size()))
        throw InputError(fmt::format("{}: a cell names point {}, but there are {}", piece.string(), i, nodes.size()));
      whole.connectivity.push_back(nodes[at(i)]);
    }
    for (std::int64_t end : part.ends) whole.ends.push_back(behind + end);
    whole.types.insert(whole.types.end(), part.types.begin(), part.types.end());
    merge(whole.point_data, part.point_data, &nodes, whole.points.size());
    merge(whole.cell_data, part.cell_data, nullptr, 0);
  }
  for (VtkArray& array : whole.point_data)
    std::get<std::vector<double>>(array.values)
        .resize(whole.points.size() * static_cast<std::size_t>(array.components));
  return whole;
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
      rods_.push_back(body.contains("segments"));
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
  VtkGrid grid = frame.file.extension() == ".pvtu"
                     ? read_pieces(frame.file)
                     : read_vtu_grid(FileContent(frame.file).bytes(), frame.file.string());
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
