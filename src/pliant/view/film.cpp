#include "pliant/view/film.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "pliant/base/error.hpp"
#include "pliant/base/file_content.hpp"
#include "pliant/base/parse_number.hpp"
#include "pliant/mesh/formats/vtu_reader.hpp"
#include "pliant/mesh/surface.hpp"

namespace pliant::view {

namespace {

std::string text_of(const std::filesystem::path& file) { return std::string(FileContent(file).bytes()); }

/// What stands in quotes after `name=` in a tag; empty where nothing does.
std::string attribute(std::string_view tag, std::string_view name) {
  const auto found = tag.find(fmt::format(" {}=\"", name));
  if (found == std::string_view::npos) return "";
  const auto begin = found + name.size() + 3, end = tag.find('"', begin);
  return end == std::string_view::npos ? "" : std::string(tag.substr(begin, end - begin));
}

const VtkArray* find(const std::vector<VtkArray>& arrays, std::string_view name) {
  const auto found = std::find_if(arrays.begin(), arrays.end(), [&](const VtkArray& a) { return a.name == name; });
  return found == arrays.end() ? nullptr : &*found;
}

std::vector<double> numbers(const VtkArray* array) {
  if (!array) return {};
  return std::visit([](const auto& v) { return std::vector<double>(v.begin(), v.end()); }, array->values);
}

/// The bodies of a frame. A cell is a tetrahedron by its corners, or a triangle.
std::vector<SurfacePart> parts_of(const VtkGrid& grid, const std::string& file) {
  const std::vector<double> body_of = numbers(find(grid.cell_data, "body"));
  const auto points = static_cast<std::int64_t>(grid.points.size());
  std::vector<SurfacePart> parts;
  std::vector<std::vector<Tet>> tets;
  std::int64_t begin = 0;
  for (std::size_t c = 0; c < grid.ends.size(); ++c) {
    const std::int64_t end = grid.ends[c];
    const std::int64_t corners = end - begin >= 4 ? 4 : 3;
    if (end < begin + 3 || end > static_cast<std::int64_t>(grid.connectivity.size()))
      throw InputError(fmt::format("{}: cell {} is neither a tetrahedron nor a triangle", file, c));
    const double number = c < body_of.size() ? body_of[c] : 0;
    if (!(number >= 0 && number < 1e6)) throw InputError(fmt::format("{}: cell {} belongs to no body", file, c));
    const auto body = static_cast<std::size_t>(number);
    if (body >= parts.size()) {
      parts.resize(body + 1);
      tets.resize(body + 1);
    }
    SurfacePart& part = parts[body];
    part.corners = static_cast<int>(corners);
    for (std::int64_t k = begin; k < begin + corners; ++k) {
      const std::int64_t i = grid.connectivity[at(k)];
      if (i < 0 || i >= points)
        throw InputError(fmt::format("{}: cell {} names point {}, but there are {}", file, c, i, points));
      part.cells.push_back(static_cast<Index>(i));
    }
    const std::size_t n = part.cells.size();
    if (corners == 4)
      tets[body].push_back({part.cells[n - 4], part.cells[n - 3], part.cells[n - 2], part.cells[n - 1]});
    else
      part.triangles.push_back({part.cells[n - 3], part.cells[n - 2], part.cells[n - 1]});
    begin = end;
  }
  for (std::size_t b = 0; b < parts.size(); ++b)
    if (!tets[b].empty()) parts[b].triangles = extract_boundary(tets[b], static_cast<Index>(points), file).triangles;
  return parts;
}

}  // namespace

bool Film::is_result(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

Film::Film(std::filesystem::path folder) : folder_(std::move(folder)) {
  if (!std::filesystem::exists(folder_ / "result.pvd"))
    throw InputError(fmt::format(
        "{} has no result.pvd: it is not the folder of a run, or the run has written no frame yet", folder_.string()));
  const std::string list = text_of(folder_ / "result.pvd");
  for (auto begin = list.find("<DataSet"); begin != std::string::npos; begin = list.find("<DataSet", begin + 1)) {
    const std::string_view tag = std::string_view(list).substr(begin, list.find('>', begin) - begin);
    const std::string time = attribute(tag, "timestep");
    const std::filesystem::path file(attribute(tag, "file"));
    if (file.empty()) continue;
    // A list leads to the frames beside it and nowhere else.
    if (file.is_absolute() || std::find(file.begin(), file.end(), "..") != file.end())
      throw InputError(fmt::format("{}/result.pvd names a file outside its folder", folder_.string()));
    const std::optional<double> seconds = parse_number(time);
    if (!seconds) throw InputError(fmt::format("{}/result.pvd has a frame without a time", folder_.string()));
    list_.push_back({*seconds, file.string()});
  }
  if (list_.empty()) throw InputError(fmt::format("{}/result.pvd lists no frames", folder_.string()));
  name_ = std::filesystem::weakly_canonical(folder_).filename().string();
  if (std::filesystem::exists(folder_ / "summary.json")) {
    const Json summary = Json::parse(text_of(folder_ / "summary.json"), nullptr, false);
    if (summary.is_object() && summary.contains("scene") && summary["scene"].is_string()) name_ = summary["scene"];
  }
  read_reports();
  read(0);
}

/// The reports of the steps, as far as they can be read: a film without them is one all the same.
void Film::read_reports() {
  constexpr std::size_t kMost = 200'000;
  if (!std::filesystem::is_regular_file(folder_ / "steps.jsonl")) return;
  std::ifstream in(folder_ / "steps.jsonl");
  for (std::string line; reports_.size() < kMost && std::getline(in, line);) {
    Json report = Json::parse(line, nullptr, false);
    if (report.is_object() && report.contains("time") && report["time"].is_number())
      reports_.emplace(report["time"].get<double>(), std::move(report));
  }
}

void Film::read(std::int64_t frame) {
  const std::filesystem::path file = folder_ / list_[at(frame)].file;
  const FileContent content(file);
  VtkGrid grid = read_vtu_grid(content.bytes(), file.string());
  const bool is_new = surface_.nodes.empty() || grid.connectivity != connectivity_ ||
                      static_cast<Eigen::Index>(3 * grid.points.size()) != x_.size();
  VecX x(3 * static_cast<Eigen::Index>(grid.points.size()));
  for (std::size_t i = 0; i < grid.points.size(); ++i) node(x, static_cast<Index>(i)) = grid.points[i];
  if (is_new) {
    const std::vector<SurfacePart> parts = parts_of(grid, file.string());
    std::vector<Vec3> rest = grid.points;
    const std::vector<double> displacement = numbers(find(grid.point_data, "displacement"));
    if (displacement.size() == 3 * rest.size())
      for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= Eigen::Map<const Vec3>(displacement.data() + 3 * i);
    surface_ = make_surface(parts, rest);
    connectivity_ = std::move(grid.connectivity);
    bodies_.clear();
    for (std::size_t b = 0; b < parts.size(); ++b)
      bodies_.push_back({{"name", fmt::format("body {}", b)},
                         {"kind", parts[b].corners == 4 ? "solid" : "springs"},
                         {"material", ""},
                         {"young", nullptr},
                         {"poisson", nullptr},
                         {"density", nullptr},
                         {"mass", nullptr},
                         {"nodes", nullptr},
                         {"elements", parts[b].cells.size() / at(parts[b].corners)},
                         {"order", 1},
                         {"vertices", surface_.first_vertex[b + 1] - surface_.first_vertex[b]},
                         {"triangles", surface_.first_triangle[b + 1] - surface_.first_triangle[b]}});
    ++revision_;
  }
  x_ = std::move(x);
  const std::vector<double> velocity = numbers(find(grid.point_data, "velocity"));
  speed_.assign(grid.points.size(), 0.0);
  if (velocity.size() == 3 * grid.points.size())
    for (std::size_t i = 0; i < speed_.size(); ++i) speed_[i] = Eigen::Map<const Vec3>(velocity.data() + 3 * i).norm();
  stress_ = numbers(find(grid.cell_data, "von_mises"));
  stretch_ = numbers(find(grid.cell_data, "stretch"));
  refreshed_ = numbers(find(grid.cell_data, "refreshed"));
  frame_ = frame;
  trouble_.clear();
}

void Film::seek(std::int64_t frame) {
  if (frame < 0 || frame >= frames())
    throw InputError(fmt::format("there is no frame {}; they are numbered 0 to {}", frame, frames() - 1));
  if (frame != frame_) read(frame);
}

bool Film::advance(StepControl* /*control*/) {
  if (frame_ + 1 >= frames()) return false;
  try {
    read(frame_ + 1);
  } catch (const std::exception& error) {
    trouble_ = error.what();
    return false;
  }
  return true;
}

void Film::play_again() {
  trouble_.clear();
  if (frame_ + 1 >= frames()) read(0);
}

double Film::step_seconds() const {
  const auto k = at(std::min(frame_ + 1, frames() - 1));
  const double gap = k > 0 ? list_[k].time - list_[k - 1].time : 0;
  return gap > 0 && gap < 10 ? gap : 1.0 / 30;
}

Json Film::describe() const {
  Json times = Json::array();
  for (const Entry& entry : list_) times.push_back(entry.time);
  Vec3 low = Vec3::Constant(std::numeric_limits<double>::infinity()), high = -low;
  for (const Vec3& p : surface_.rest) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  return {{"source", "result"},
          {"path", nullptr},
          {"name", name_},
          {"title", fmt::format("{} frames of a finished run", list_.size())},
          {"time_step", step_seconds()},
          {"steps", list_.size()},
          {"gravity", Json::array({0, 0, 0})},
          {"box", Json::array({to_json(low), to_json(high)})},
          {"notices", Json::array()},
          {"bodies", bodies_},
          {"obstacles", Json::array()},
          {"has_contact", false},
          {"frames", list_.size()},
          {"times", std::move(times)},
          {"can",
           {{"play", true},
            {"grab", false},
            {"pin", false},
            {"cut", false},
            {"solver", false},
            {"compare", false},
            {"material", false},
            {"save", false}}}};
}

Json Film::settings() const {
  return {{"time_step", step_seconds()},
          {"gravity", Json::array({0, 0, 0})},
          {"stiffness", std::vector<double>(bodies_.size(), 1.0)},
          {"strength", 100},
          {"compare", false},
          {"pins", 0},
          {"cuts", 0},
          {"frame", frame_},
          {"views", Json::array({{{"solver", "result"},
                                  {"parameters", Json::object()},
                                  {"trouble", trouble_.empty() ? Json(nullptr) : Json(trouble_)}}})}};
}

Drawing Film::draw(int /*view*/, Colour colour) {
  Drawing drawing;
  drawing.time = list_[at(frame_)].time;
  drawing.step = frame_;
  surface_.gather(x_, drawing.positions);
  switch (colour) {
    case Colour::none:
      return drawing;
    case Colour::stress:
      surface_.average(stress_, drawing.values);
      break;
    case Colour::stretch:
      surface_.average(stretch_, drawing.values);
      break;
    case Colour::speed:
      for (Index i : surface_.nodes) drawing.values.push_back(speed_[at(i)]);
      break;
    case Colour::error:
      drawing.values.assign(surface_.nodes.size(), 0.0);
      break;
    case Colour::refreshed:
      surface_.largest(refreshed_, drawing.values);
      break;
  }
  range_.follow(colour, drawing);
  return drawing;
}

/// What steps.jsonl says of the step that led to this frame, in the words of the protocol.
Json Film::telemetry() {
  const double time = list_[at(frame_)].time;
  Json view = {{"solver", "result"},
               {"outcome", "converged"},
               {"ok", true},
               {"detail", ""},
               {"iterations", 0},
               {"factorisations", 0},
               {"linear_iterations", 0},
               {"line_search_evaluations", 0},
               {"ms", Json::object()},
               {"residuals", Json::object()},
               {"history", Json::array()},
               {"energy", Json::object()},
               {"gap", nullptr},
               {"contacts", 0},
               {"figures", Json::object()}};
  for (const char* key : {"kinetic", "elastic", "gravity", "total"}) view["energy"][key] = nullptr;
  for (const char* key : {"assembly", "factorisation", "solve", "line_search", "contact", "total"}) view["ms"][key] = 0;
  for (const char* key : {"force", "acceleration", "step_length"}) view["residuals"][key] = nullptr;
  auto found = reports_.lower_bound(time - 1e-9 * std::max(1.0, std::abs(time)));
  if (found != reports_.end() && std::abs(found->first - time) <= 1e-6 * std::max(1.0, std::abs(time))) {
    const Json& report = found->second;
    for (const char* key : {"outcome", "detail", "iterations", "factorisations", "linear_iterations",
                            "line_search_evaluations", "contacts", "residuals", "figures", "history"})
      if (report.contains(key)) view[key] = report[key];
    if (report.contains("minimum_gap")) view["gap"] = report["minimum_gap"];
    if (report.contains("seconds") && report["seconds"].is_object())
      for (const auto& [key, value] : report["seconds"].items())
        if (value.is_number()) view["ms"][key] = 1e3 * value.get<double>();
  }
  return {{"time", time}, {"step", frame_}, {"grabs", Json::array()}, {"views", Json::array({std::move(view)})}};
}

}  // namespace pliant::view
