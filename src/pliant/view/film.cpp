#include "pliant/view/film.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "pliant/base/error.hpp"
#include "pliant/base/file_content.hpp"
#include "pliant/contact/bvh.hpp"
#include "pliant/io/probe_table.hpp"
#include "pliant/mesh/surface.hpp"

namespace pliant::view {

namespace {

/// The bodies of a frame. A cell is a tetrahedron by its corners, or a triangle.
std::vector<SurfacePart> parts_of(const VtkGrid& grid, const std::string& file) {
  const std::vector<double> body_of = numbers_of(find_array(grid.cell_data, "body"));
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

/// For each of some places the number of the nearest point.
std::vector<Index> nearest_of(std::span<const Vec3> points, std::span<const Vec3> places) {
  std::vector<Aabb> boxes(points.size());
  Aabb all;
  for (std::size_t i = 0; i < points.size(); ++i) {
    boxes[i].include(points[i]);
    all.include(points[i]);
  }
  Bvh tree;
  tree.build(boxes);
  // About as far as points are from each other on a surface; more where nothing is so near.
  const double spacing = (all.max - all.min).norm() / std::sqrt(static_cast<double>(points.size()));
  std::vector<Index> nearest;
  for (const Vec3& place : places) {
    Index found = 0;
    double least = std::numeric_limits<double>::infinity();
    for (double reach = spacing; !(least <= reach); reach = spacing > 0 ? 2 * reach : least) {
      Aabb box;
      box.include(place);
      box.inflate(reach);
      tree.query(box, Bvh::kAll, [&](Index i) {
        const double distance = (points[at(i)] - place).norm();
        if (distance > least || (distance == least && i >= found)) return;
        least = distance;
        found = i;
      });
      if (reach > 1e3 * (1 + (all.max - all.min).norm() + place.norm())) break;
    }
    nearest.push_back(found);
  }
  return nearest;
}

}  // namespace

bool Film::is_result(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

Film::Film(const std::filesystem::path& folder, const std::optional<std::filesystem::path>& other) {
  takes_.push_back(open(folder));
  if (other) takes_.push_back(open(*other));
  read_obstacles();
  read_skin();
  measure();
  read(0);
}

/// Around the bodies in the whole run, by some of its frames: what a camera that stands still has to see.
void Film::measure() {
  constexpr std::int64_t kLooks = 9;
  for (std::int64_t k = 0; k < kLooks; ++k) try {
      const std::int64_t frame = k * (frames() - 1) / (kLooks - 1);
      for (const Vec3& p : RecordedRun::read(takes_.front().run.frames()[at(frame)]).points) {
        low_ = low_.cwiseMin(p);
        high_ = high_.cwiseMax(p);
      }
    } catch (const std::exception&) {
      // A frame that cannot be read is told of where it is shown.
    }
}

Film::Take Film::open(const std::filesystem::path& folder) {
  constexpr std::size_t kMost = 200'000;
  Take take{.run = RecordedRun(folder)};
  if (std::filesystem::exists(folder / "summary.json")) {
    const Json summary = Json::parse(FileContent(folder / "summary.json").bytes(), nullptr, false);
    const Json::json_pointer solver("/solver/name");
    if (summary.is_object() && summary.contains(solver) && summary[solver].is_string()) take.solver = summary[solver];
  }
  if (std::filesystem::is_regular_file(folder / "probes.csv")) read_probes(folder / "probes.csv", take);
  // Reports of the steps, as far as they can be read: a film without them is one all the same.
  if (!std::filesystem::is_regular_file(folder / "steps.jsonl")) return take;
  std::ifstream in(folder / "steps.jsonl");
  for (std::string line; take.reports.size() < kMost && std::getline(in, line);) {
    Json report = Json::parse(line, nullptr, false);
    if (report.is_object() && report.contains("time") && report["time"].is_number())
      take.reports.emplace(report["time"].get<double>(), std::move(report));
  }
  return take;
}

/// Runs of the same scene have the same columns; others are shown without.
void Film::read_probes(const std::filesystem::path& file, Take& take) {
  const ProbeTable table = read_probe_table(file);
  if (takes_.empty()) probe_columns_ = table.columns;
  if (table.columns != probe_columns_) return;
  for (std::size_t k = 0; k < table.times.size(); ++k)
    for (const double value : table.values[k])
      take.probes[table.times[k]].push_back(std::isfinite(value) ? Json(value) : Json(nullptr));
}

/// Visual meshes, where every run that is shown has them for every frame.
void Film::read_skin() {
  const auto lacks = [](const Take& take) { return take.run.visual().size() < take.run.frames().size(); };
  if (std::any_of(takes_.begin(), takes_.end(), lacks)) return;
  const VtkGrid grid = RecordedRun::read(takes_.front().run.visual().front());
  const std::vector<double> body_of = numbers_of(find_array(grid.cell_data, "body"));
  std::map<Index, std::vector<std::int64_t>> corners;  // of the triangles of each body
  std::int64_t begin = 0;
  for (std::size_t c = 0; c < grid.ends.size(); begin = grid.ends[c], ++c) {
    const double body = c < body_of.size() ? body_of[c] : 0;
    if (grid.ends[c] - begin != 3 || !(body >= 0 && body < 1e6)) continue;
    std::vector<std::int64_t>& list = corners[static_cast<Index>(body)];
    list.insert(list.end(), grid.connectivity.begin() + begin, grid.connectivity.begin() + begin + 3);
  }
  for (const auto& [body, list] : corners) {
    std::vector<std::int64_t> points = list;
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    std::vector<Triangle> triangles(list.size() / 3);
    for (std::size_t k = 0; k < list.size(); ++k)
      triangles[k / 3][k % 3] =
          static_cast<Index>(std::lower_bound(points.begin(), points.end(), list[k]) - points.begin());
    std::vector<Vec3> vertices;
    for (const std::int64_t point : points) vertices.push_back(grid.points[at(point)]);
    skin_.add(body, triangles, vertices);
    skin_points_.insert(skin_points_.end(), points.begin(), points.end());
  }
}

/// Colliders as they are in their first frame, each a mesh of its own; later frames move them.
void Film::read_obstacles() {
  const auto& list = takes_.front().run.colliders();
  if (list.empty()) return;
  const VtkGrid grid = RecordedRun::read(list.front());
  const std::vector<double> region_of = numbers_of(find_array(grid.cell_data, "region"));
  std::vector<std::map<std::int64_t, Index>> number;
  std::int64_t begin = 0;
  for (std::size_t c = 0; c < grid.ends.size(); begin = grid.ends[c], ++c) {
    const double region = c < region_of.size() ? region_of[c] : 0;
    if (grid.ends[c] - begin != 3 || !(region >= 0 && region < 1e4)) continue;
    const auto r = static_cast<std::size_t>(region);
    if (r >= obstacles_.size()) {
      obstacles_.resize(r + 1);
      number.resize(r + 1);
    }
    Triangle triangle;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::int64_t point = grid.connectivity[at(begin) + k];
      const auto [found, is_new] = number[r].emplace(point, static_cast<Index>(obstacles_[r].vertices.size()));
      if (is_new) obstacles_[r].vertices.push_back(grid.points[at(point)]);
      triangle[k] = found->second;
    }
    obstacles_[r].triangles.push_back(triangle);
  }
  for (std::size_t r = 0; r < obstacles_.size(); ++r) {
    const bool is_plane = obstacles_[r].triangles.size() == 2;  // drawn as a square
    obstacle_names_.push_back(
        {{"name", region_name(grid, r, fmt::format("collider {}", r))}, {"shape", is_plane ? "plane" : "surface"}});
  }
  obstacles_move_ = std::any_of(list.begin(), list.end(), [&](const auto& f) { return f.file != list.front().file; });
}

void Film::set_surface(const VtkGrid& grid, const std::string& file) {
  const std::vector<SurfacePart> parts = parts_of(grid, file);
  std::vector<Vec3> rest = grid.points;
  const std::vector<double> displacement = numbers_of(find_array(grid.point_data, "displacement"));
  if (displacement.size() == 3 * rest.size())
    for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= Eigen::Map<const Vec3>(displacement.data() + 3 * i);
  surface_ = make_surface(parts, rest);
  connectivity_ = grid.connectivity;
  skin_colours_.clear();
  for (std::size_t m = 0; m < skin_.bodies.size(); ++m) {
    // Of all bodies where its own has no surface in these frames.
    const auto b = at(skin_.bodies[m]);
    const bool is_there =
        b + 1 < surface_.first_vertex.size() && surface_.first_vertex[b] < surface_.first_vertex[b + 1];
    const Index first = is_there ? surface_.first_vertex[b] : 0;
    const Index count = (is_there ? surface_.first_vertex[b + 1] : surface_.first_vertex.back()) - first;
    const std::span<const Vec3> vertices = std::span(surface_.rest).subspan(at(first), at(count));
    const std::span<const Vec3> places =
        std::span(skin_.rest).subspan(at(skin_.first_vertex[m]), at(skin_.first_vertex[m + 1] - skin_.first_vertex[m]));
    for (const Index v : nearest_of(vertices, places)) skin_colours_.push_back(first + v);
  }
  bodies_.clear();
  rigid_cells_.clear();
  for (std::size_t b = 0; b < parts.size(); ++b) {
    const bool is_rigid = takes_.front().run.is_rigid(b), is_rod = takes_.front().run.is_rod(b);
    const bool is_solid = parts[b].corners == 4;
    rigid_cells_.insert(rigid_cells_.end(), parts[b].cells.size() / at(parts[b].corners), is_rigid);
    bodies_.push_back({{"name", takes_.front().run.body_name(b)},
                       {"kind", is_rigid   ? "rigid"
                                : is_rod   ? "rod"
                                : is_solid ? "solid"
                                           : "springs"},
                       {"material", ""},
                       {"young", nullptr},
                       {"poisson", nullptr},
                       {"density", nullptr},
                       {"mass", nullptr},
                       {"nodes", nullptr},
                       {"elements", parts[b].cells.size() / at(parts[b].corners)},
                       {"order", 1},
                       {"vertices", surface_.first_vertex[b + 1] - surface_.first_vertex[b]},
                       {"triangles", surface_.first_triangle[b + 1] - surface_.first_triangle[b]},
                       {"uncoloured", uncoloured(is_rigid, is_solid || is_rod)}});
  }
  ++revision_;
}

void Film::show(const VtkGrid& grid, Take& take) {
  take.x.resize(3 * static_cast<Eigen::Index>(grid.points.size()));
  for (std::size_t i = 0; i < grid.points.size(); ++i) node(take.x, static_cast<Index>(i)) = grid.points[i];
  const std::vector<double> velocity = numbers_of(find_array(grid.point_data, "velocity"));
  take.speed.assign(grid.points.size(), 0.0);
  if (velocity.size() == 3 * grid.points.size())
    for (std::size_t i = 0; i < take.speed.size(); ++i)
      take.speed[i] = Eigen::Map<const Vec3>(velocity.data() + 3 * i).norm();
  take.stress = numbers_of(find_array(grid.cell_data, "von_mises"));
  take.stretch = numbers_of(find_array(grid.cell_data, "stretch"));
  take.refreshed = numbers_of(find_array(grid.cell_data, "refreshed"));
  for (std::vector<double>* field : {&take.stress, &take.stretch})
    for (std::size_t e = 0; e < std::min(field->size(), rigid_cells_.size()); ++e)
      if (rigid_cells_[e]) (*field)[e] = std::numeric_limits<double>::quiet_NaN();
}

void Film::read(std::int64_t frame) {
  const RecordedRun::Frame& first = takes_.front().run.frames()[at(frame)];
  std::vector<VtkGrid> grids = {RecordedRun::read(first)};
  std::vector<std::vector<Vec3>> skins(takes_.size());
  const auto read_skin = [&](std::size_t k, std::size_t number) {
    if (skin_.empty()) return;
    const VtkGrid visual = RecordedRun::read(takes_[k].run.visual()[number]);
    for (const std::int64_t point : skin_points_)
      skins[k].push_back(at(point) < visual.points.size() ? visual.points[at(point)] : Vec3(Vec3::Zero()));
  };
  read_skin(0, at(frame));
  for (std::size_t k = 1; k < takes_.size(); ++k) {
    const auto& list = takes_[k].run.frames();
    const auto nearest = std::min_element(list.begin(), list.end(), [&](const auto& a, const auto& b) {
      return std::abs(a.time - first.time) < std::abs(b.time - first.time);
    });
    grids.push_back(RecordedRun::read(*nearest));
    read_skin(k, static_cast<std::size_t>(nearest - list.begin()));
    if (grids[k].connectivity != grids[0].connectivity)
      throw InputError(fmt::format("{} and {} have other elements: runs of the same scene can be compared",
                                   takes_[0].run.folder().string(), takes_[k].run.folder().string()));
  }
  if (surface_.nodes.empty() || grids[0].connectivity != connectivity_) set_surface(grids[0], first.file.string());
  for (std::size_t k = 0; k < takes_.size(); ++k) {
    show(grids[k], takes_[k]);
    takes_[k].skin = std::move(skins[k]);
  }
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
  const auto& list = takes_.front().run.frames();
  const double gap = k > 0 ? list[k].time - list[k - 1].time : 0;
  return gap > 0 && gap < 10 ? gap : 1.0 / 30;
}

Json Film::describe() const {
  Json times = Json::array();
  const RecordedRun& run = takes_.front().run;
  for (const RecordedRun::Frame& entry : run.frames()) times.push_back(entry.time);
  return {{"source", "result"},
          {"path", nullptr},
          {"name", run.name()},
          {"title", run.title().empty() ? fmt::format("{} frames of a finished run", frames()) : run.title()},
          {"time_step", step_seconds()},
          {"steps", frames()},
          {"gravity", to_json(-9.81 * run.up())},
          {"box", Json::array({to_json(low_), to_json(high_)})},
          {"notices", Json::array()},
          {"bodies", bodies_},
          {"obstacles", obstacle_names_},
          {"has_contact", false},
          {"probes", probe_columns_},
          {"frames", frames()},
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
  Json views = Json::array();
  for (const Take& take : takes_)
    views.push_back({{"solver", take.solver},
                     {"run", take.run.folder().filename().string()},
                     {"parameters", Json::object()},
                     {"trouble", trouble_.empty() ? Json(nullptr) : Json(trouble_)}});
  return {{"time_step", step_seconds()},
          {"gravity", to_json(-9.81 * takes_.front().run.up())},
          {"stiffness", std::vector<double>(bodies_.size(), 1.0)},
          {"strength", 100},
          {"compare", takes_.size() > 1},
          {"pins", 0},
          {"cuts", 0},
          {"frame", frame_},
          {"views", std::move(views)}};
}

Drawing Film::draw(int view, Colour colour) {
  const Take& take = takes_[at(view)];
  Drawing drawing;
  drawing.time = time();
  drawing.step = frame_;
  surface_.gather(take.x, drawing.positions);
  drawing.positions.insert(drawing.positions.end(), take.skin.begin(), take.skin.end());
  switch (colour) {
    case Colour::none:
      return drawing;
    case Colour::stress:
      surface_.average(take.stress, drawing.values);
      break;
    case Colour::stretch:
      surface_.average(take.stretch, drawing.values);
      break;
    case Colour::speed:
      for (Index i : surface_.nodes) drawing.values.push_back(take.speed[at(i)]);
      break;
    case Colour::error:
      for (Index i : surface_.nodes)
        drawing.values.push_back((Vec3(node(take.x, i)) - Vec3(node(takes_.front().x, i))).norm());
      break;
    case Colour::refreshed:
      surface_.largest(take.refreshed, drawing.values);
      break;
  }
  // Frames have no values at the vertices of visual meshes: each has that of the nearest vertex of its body's surface.
  for (const Index v : skin_colours_) drawing.values.push_back(drawing.values[at(v)]);
  range_.follow(colour, drawing);
  return drawing;
}

/// What steps.jsonl says of the step that led to this frame, in the words of the protocol.
Json Film::report(const Take& take) const {
  Json view = {{"solver", take.solver},
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
  if (const auto probed = take.probes.lower_bound(time() - 1e-9 * std::max(1.0, std::abs(time())));
      probed != take.probes.end() && std::abs(probed->first - time()) <= 1e-6 * std::max(1.0, std::abs(time())))
    view["probes"] = probed->second;
  for (const Tie& spring : take.run.springs()) {
    const auto is_there = [&](Index i) { return 3 * Eigen::Index{i} < take.x.size(); };
    if (!std::all_of(spring.nodes.begin(), spring.nodes.end(), is_there)) continue;  // the frames of another model
    const auto [from, to] = spring.ends(take.x);
    view["springs"].push_back({to_json(from), to_json(to)});
  }
  if (&take != &takes_.front() && take.x.size() == takes_.front().x.size())
    view["error"] = std::sqrt(3 * (take.x - takes_.front().x).squaredNorm() / static_cast<double>(take.x.size()));
  auto found = take.reports.lower_bound(time() - 1e-9 * std::max(1.0, std::abs(time())));
  if (found == take.reports.end() || std::abs(found->first - time()) > 1e-6 * std::max(1.0, std::abs(time())))
    return view;
  const Json& report = found->second;
  for (const char* key : {"outcome", "detail", "iterations", "factorisations", "linear_iterations",
                          "line_search_evaluations", "contacts", "residuals", "figures", "history"})
    if (report.contains(key)) view[key] = report[key];
  if (report.contains("minimum_gap")) view["gap"] = report["minimum_gap"];
  if (report.contains("seconds") && report["seconds"].is_object())
    for (const auto& [key, value] : report["seconds"].items())
      if (value.is_number()) view["ms"][key] = 1e3 * value.get<double>();
  return view;
}

/// Where the colliders are in this frame: the rigid motion that leads there from where they were at first, columns
/// first.
Json Film::poses() const {
  const auto& list = takes_.front().run.colliders();
  const auto nearest = std::min_element(list.begin(), list.end(), [&](const auto& a, const auto& b) {
    return std::abs(a.time - time()) < std::abs(b.time - time());
  });
  const VtkGrid before = RecordedRun::read(list.front()), now = RecordedRun::read(*nearest);
  const std::vector<double> region_of = numbers_of(find_array(before.cell_data, "region"));
  std::vector<std::vector<Index>> points(obstacles_.size());
  std::int64_t begin = 0;
  for (std::size_t c = 0; c < before.ends.size(); begin = before.ends[c], ++c) {
    const double region = c < region_of.size() ? region_of[c] : 0;
    if (!(region >= 0 && static_cast<std::size_t>(region) < points.size())) continue;
    for (std::int64_t k = begin; k < before.ends[c]; ++k)
      points[static_cast<std::size_t>(region)].push_back(static_cast<Index>(before.connectivity[at(k)]));
  }
  Json poses = Json::array();
  for (const std::vector<Index>& of : points) {
    Eigen::Matrix4d pose = Eigen::Matrix4d::Identity();
    if (before.points.size() == now.points.size() && of.size() >= 3) {
      Eigen::Matrix3Xd from(3, of.size()), to(3, of.size());
      for (std::size_t k = 0; k < of.size(); ++k) {
        from.col(static_cast<Eigen::Index>(k)) = before.points[at(of[k])];
        to.col(static_cast<Eigen::Index>(k)) = now.points[at(of[k])];
      }
      pose = Eigen::umeyama(from, to, false);
    }
    poses.push_back(std::vector<double>(pose.data(), pose.data() + 16));
  }
  return poses;
}

Json Film::telemetry() {
  Json views = Json::array();
  for (const Take& take : takes_) views.push_back(report(take));
  Json json = {{"time", time()}, {"step", frame_}, {"grabs", Json::array()}, {"views", std::move(views)}};
  if (obstacles_move_) json["obstacles"] = poses();
  return json;
}

}  // namespace pliant::view
