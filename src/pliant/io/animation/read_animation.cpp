#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "pliant/base/error.hpp"
#include "pliant/fem/reference_element.hpp"
#include "pliant/io/animation/animation.hpp"
#include "pliant/io/animation/springs.hpp"
#include "pliant/mesh/surface.hpp"

namespace pliant {

namespace {

/// The sides of a tetrahedron by its corners, counter-clockwise seen from outside.
constexpr std::array<Triangle, 4> kSides = {{{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};

int order_of(std::int64_t nodes) { return nodes == 20 ? 3 : nodes == 10 ? 2 : 1; }

/// The side with corners a, b, c of a curved element as order^2 flat triangles over the element's own nodes.
std::vector<Triangle> flat_side(const ReferenceElement& element, const Triangle& corners) {
  const int n = element.order();
  const auto node_at = [&](int i, int j) {  // i steps from a towards b, j towards c
    std::array<int, 4> coordinates = {0, 0, 0, 0};
    coordinates[at(corners[0])] = n - i - j;
    coordinates[at(corners[1])] = i;
    coordinates[at(corners[2])] = j;
    const auto found = std::find(element.lattice().begin(), element.lattice().end(), coordinates);
    return static_cast<Index>(found - element.lattice().begin());
  };
  std::vector<Triangle> flat;
  for (int i = 0; i < n; ++i)
    for (int j = 0; i + j < n; ++j) {
      flat.push_back({node_at(i, j), node_at(i + 1, j), node_at(i, j + 1)});
      if (i + j + 1 < n) flat.push_back({node_at(i + 1, j), node_at(i + 1, j + 1), node_at(i, j + 1)});
    }
  return flat;
}

/// One surface over the points of a frame, before it gets vertices of its own.
struct RawSurface {
  std::vector<Triangle> triangles;  ///< over the frame's points
  std::vector<Index> points;        ///< those used, ascending
  std::vector<std::size_t> cells;   ///< of the frame that belong to it
};

/// Cells by an array of numbers, surface by surface.
std::vector<RawSurface> surfaces_of(const VtkGrid& grid, const std::string& by, Faces faces, const std::string& file) {
  const std::vector<double> number_of = numbers_of(find_array(grid.cell_data, by));
  std::vector<RawSurface> surfaces;
  for (std::size_t c = 0; c < grid.ends.size(); ++c) {
    const double number = c < number_of.size() ? number_of[c] : 0;
    if (!(number >= 0 && number < 1e6)) throw InputError(fmt::format("{}: cell {} belongs to no body", file, c));
    if (static_cast<std::size_t>(number) >= surfaces.size()) surfaces.resize(static_cast<std::size_t>(number) + 1);
    surfaces[static_cast<std::size_t>(number)].cells.push_back(c);
  }
  for (RawSurface& surface : surfaces) {
    std::vector<Tet> tets;
    std::vector<std::size_t> first;  // of each tet, in the connectivity
    std::vector<int> orders;
    for (std::size_t c : surface.cells) {
      const std::int64_t begin = c == 0 ? 0 : grid.ends[c - 1], nodes = grid.ends[c] - begin;
      const auto point = [&](std::int64_t k) { return static_cast<Index>(grid.connectivity[at(begin + k)]); };
      if (nodes == 3) {
        surface.triangles.push_back({point(0), point(1), point(2)});
        continue;
      }
      tets.push_back({point(0), point(1), point(2), point(3)});
      first.push_back(at(begin));
      orders.push_back(order_of(nodes));
    }
    const auto add_side = [&](std::size_t tet, const Triangle& corners) {
      for (const Triangle& t : flat_side(ReferenceElement::of_order(orders[tet]), corners)) {
        Triangle& added = surface.triangles.emplace_back();
        for (std::size_t k = 0; k < 3; ++k) added[k] = static_cast<Index>(grid.connectivity[first[tet] + at(t[k])]);
      }
    };
    if (faces == Faces::all) {
      for (std::size_t t = 0; t < tets.size(); ++t)
        for (const Triangle& side : kSides) add_side(t, side);
    } else if (!tets.empty()) {
      const BoundaryFaces boundary = extract_boundary(tets, static_cast<Index>(grid.points.size()), file);
      for (std::size_t f = 0; f < boundary.triangles.size(); ++f) {
        const Tet& tet = tets[at(boundary.tets[f])];
        Triangle corners;
        for (std::size_t k = 0; k < 3; ++k)
          corners[k] = static_cast<Index>(std::find(tet.begin(), tet.end(), boundary.triangles[f][k]) - tet.begin());
        add_side(at(boundary.tets[f]), corners);
      }
    }
    for (const Triangle& t : surface.triangles) surface.points.insert(surface.points.end(), t.begin(), t.end());
    std::sort(surface.points.begin(), surface.points.end());
    surface.points.erase(std::unique(surface.points.begin(), surface.points.end()), surface.points.end());
    for (Triangle& t : surface.triangles)
      for (Index& i : t)
        i = static_cast<Index>(std::lower_bound(surface.points.begin(), surface.points.end(), i) -
                               surface.points.begin());
  }
  return surfaces;
}

/// For each point of `last` the one of `grid` that it was or is a copy of: a cut gives elements other corners, but
/// neither other elements nor another order.
std::vector<Index> origins(const VtkGrid& grid, const VtkGrid& last, const std::string& file) {
  if (grid.ends != last.ends)
    throw InputError(
        fmt::format("{} has other elements than the last frame; export the frames one by one, as ply or "
                    "obj, from a run without such a change",
                    file));
  std::vector<Index> origin(last.points.size(), 0);
  for (std::size_t k = 0; k < last.connectivity.size(); ++k)
    origin[at(last.connectivity[k])] = static_cast<Index>(grid.connectivity[k]);
  return origin;
}

[[noreturn]] void refuse_field(const std::string& field, const VtkGrid& grid, const std::string& file) {
  std::vector<std::string> names;
  for (const auto* arrays : {&grid.point_data, &grid.cell_data})
    for (const VtkArray& array : *arrays) names.push_back(array.name);
  throw InputError(fmt::format("{} has no field '{}'; it has: {}", file, field, fmt::join(names, ", ")));
}

/// The field at each point: of vectors the length, of elements the mean over those around the point.
std::vector<double> field_at_points(const VtkGrid& grid, const std::string& field, const std::string& file) {
  std::string name = field == "speed" ? "velocity" : field;
  std::replace(name.begin(), name.end(), '-', '_');  // as `fields` of [output] has it
  std::vector<double> values(grid.points.size(), 0.0);
  if (const VtkArray* array = find_array(grid.point_data, name)) {
    const std::vector<double> numbers = numbers_of(array);
    const auto components = at(array->components);
    for (std::size_t i = 0; i < values.size() && (i + 1) * components <= numbers.size(); ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < components; ++k) sum += numbers[i * components + k] * numbers[i * components + k];
      values[i] = components == 1 ? numbers[i] : std::sqrt(sum);
    }
    return values;
  }
  const VtkArray* array = find_array(grid.cell_data, name);
  if (!array || array->components != 1) refuse_field(field, grid, file);
  const std::vector<double> numbers = numbers_of(array);
  std::vector<int> count(values.size(), 0);
  for (std::size_t c = 0; c < grid.ends.size() && c < numbers.size(); ++c)
    for (std::int64_t k = c == 0 ? 0 : grid.ends[c - 1]; k < grid.ends[c]; ++k) {
      const std::size_t i = at(grid.connectivity[at(k)]);
      values[i] += numbers[c];
      ++count[i];
    }
  for (std::size_t i = 0; i < values.size(); ++i)
    if (count[i] > 0) values[i] /= count[i];
  return values;
}

std::vector<float> gather(const VtkGrid& grid, const RawSurface& surface, const std::vector<Index>& origin) {
  std::vector<float> positions;
  positions.reserve(3 * surface.points.size());
  for (Index i : surface.points) {
    const Vec3& p = grid.points[at(origin.empty() ? i : origin[at(i)])];
    for (int k = 0; k < 3; ++k) positions.push_back(static_cast<float>(p[k]));
  }
  return positions;
}

std::string distinct(const std::string& wanted, std::set<std::string>& used) {
  std::string name = wanted;
  for (int n = 2; used.contains(name); ++n) name = fmt::format("{} {}", wanted, n);
  used.insert(name);
  return name;
}

void add_bodies(const RecordedRun& run, const std::vector<std::size_t>& chosen, const AnimationOptions& options,
                const std::set<std::size_t>& without, std::set<std::string>& names, Animation& animation) {
  const RecordedRun::Frame& last_frame = run.frames()[chosen.back()];
  const VtkGrid last = RecordedRun::read(last_frame);
  if (options.needs_colour || find_array(last.cell_data, options.colour)) animation.field = options.colour;
  std::vector<RawSurface> raw = surfaces_of(last, "body", options.faces, last_frame.file.string());
  for (std::size_t b : without)
    if (b < raw.size()) raw[b].triangles.clear();
  std::vector<AnimatedSurface> bodies(raw.size());
  for (std::size_t b = 0; b < raw.size(); ++b) {
    if (raw[b].triangles.empty()) continue;
    bodies[b].name = distinct(run.body_name(b), names);
    bodies[b].is_rigid = run.is_rigid(b);
    bodies[b].colour = body_colour(b);
    bodies[b].triangles = raw[b].triangles;
  }
  for (std::size_t k : chosen) {
    const RecordedRun::Frame& frame = run.frames()[k];
    VtkGrid earlier;
    if (k != chosen.back()) earlier = RecordedRun::read(frame);
    const VtkGrid& grid = k != chosen.back() ? earlier : last;
    std::vector<Index> origin;
    if (grid.connectivity != last.connectivity) origin = origins(grid, last, frame.file.string());
    const std::vector<double> field =
        animation.field.empty() ? std::vector<double>() : field_at_points(grid, animation.field, frame.file.string());
    for (std::size_t b = 0; b < raw.size(); ++b) {
      if (raw[b].triangles.empty()) continue;
      bodies[b].positions.push_back(gather(grid, raw[b], origin));
      if (field.empty()) continue;
      std::vector<float>& values = bodies[b].values.emplace_back();
      for (Index i : raw[b].points) values.push_back(static_cast<float>(field[at(origin.empty() ? i : origin[at(i)])]));
    }
  }
  for (AnimatedSurface& body : bodies)
    if (!body.triangles.empty()) animation.surfaces.push_back(std::move(body));
}

void add_colliders(const RecordedRun& run, std::set<std::string>& names, Animation& animation) {
  const auto& list = run.colliders();
  if (list.empty()) return;
  const VtkGrid first = RecordedRun::read(list.front());
  const std::vector<RawSurface> raw = surfaces_of(first, "region", Faces::outside, list.front().file.string());
  std::vector<AnimatedSurface> colliders(raw.size());
  std::filesystem::path read;
  VtkGrid grid;
  for (double time : animation.times) {
    const auto nearest = std::min_element(list.begin(), list.end(), [&](const auto& a, const auto& b) {
      return std::abs(a.time - time) < std::abs(b.time - time);
    });
    if (nearest->file != read) grid = RecordedRun::read(*nearest);
    read = nearest->file;
    if (grid.points.size() != first.points.size())
      throw InputError(fmt::format("{} has other points than the first frame of the colliders", read.string()));
    for (std::size_t c = 0; c < raw.size(); ++c) colliders[c].positions.push_back(gather(grid, raw[c], {}));
  }
  for (std::size_t c = 0; c < raw.size(); ++c) {
    AnimatedSurface& collider = colliders[c];
    if (raw[c].triangles.empty()) continue;
    collider.name = distinct(region_name(first, c, fmt::format("collider {}", c)), names);
    collider.is_collider = true;
    collider.colour = kColliderColour;
    collider.triangles = raw[c].triangles;
    if (std::all_of(collider.positions.begin(), collider.positions.end(),
                    [&](const auto& p) { return p == collider.positions.front(); }))
      collider.positions.resize(1);
    animation.surfaces.push_back(std::move(collider));
  }
}

/// Of visual meshes a surface for each material. Returns which bodies have them.
std::set<std::size_t> add_visual(const RecordedRun& run, const std::vector<std::size_t>& chosen,
                                 std::set<std::string>& names, Animation& animation) {
  const auto& list = run.visual();
  if (list.size() < run.frames().size())
    throw InputError(fmt::format("{} has no visual meshes for all of its frames; give a body 'visual' and run it again",
                                 run.folder().string()));
  const RecordedRun::Frame& frame = list[chosen.back()];
  const VtkGrid last = RecordedRun::read(frame);
  const std::vector<RawSurface> raw = surfaces_of(last, "region", Faces::outside, frame.file.string());
  const std::vector<double> body_of = numbers_of(find_array(last.cell_data, "body")),
                            texture = numbers_of(find_array(last.point_data, "texture"));
  std::set<std::size_t> bodies;
  std::vector<AnimatedSurface> surfaces(raw.size());
  for (std::size_t s = 0; s < raw.size(); ++s) {
    if (raw[s].triangles.empty()) continue;
    const std::size_t cell = raw[s].cells.front();
    const std::size_t body = cell < body_of.size() && body_of[cell] >= 0 ? static_cast<std::size_t>(body_of[cell]) : 0;
    bodies.insert(body);
    surfaces[s].name = distinct(region_name(last, s, run.body_name(body)), names);
    surfaces[s].colour = body_colour(body);
    surfaces[s].triangles = raw[s].triangles;
    for (Index i : raw[s].points)
      for (std::size_t k = 0; k < 2 && 3 * at(i) + 2 < texture.size(); ++k)
        surfaces[s].texture.push_back(static_cast<float>(texture[3 * at(i) + k]));
  }
  for (std::size_t k : chosen) {
    const VtkGrid grid = RecordedRun::read(list[k]);
    if (grid.points.size() != last.points.size())
      throw InputError(fmt::format("{} has other points than the last frame", list[k].file.string()));
    for (std::size_t s = 0; s < raw.size(); ++s)
      if (!raw[s].triangles.empty()) surfaces[s].positions.push_back(gather(grid, raw[s], {}));
  }
  for (AnimatedSurface& surface : surfaces)
    if (!surface.triangles.empty()) animation.surfaces.push_back(std::move(surface));
  return bodies;
}

void set_range(const AnimationOptions& options, Animation& animation) {
  animation.uncolour_rigid();
  if (!options.range) return animation.fit_range();
  animation.low = (*options.range)[0];
  animation.high = (*options.range)[1];
}

}  // namespace

Animation read_animation(const RecordedRun& run, const AnimationOptions& options) {
  if (options.every < 1)
    throw InputError(fmt::format("every = {}: take every n-th frame, n at least 1", options.every));
  std::vector<std::size_t> chosen;
  if (options.frames) {
    chosen = *options.frames;
    for (std::size_t k : chosen)
      if (k >= run.frames().size())
        throw InputError(fmt::format("there is no frame {}; they are numbered 0 to {}", k, run.frames().size() - 1));
  } else {
    for (std::size_t k = 0; k < run.frames().size(); k += at(options.every)) chosen.push_back(k);
  }
  if (chosen.empty()) throw InputError("no frame was chosen");
  Animation animation;
  animation.name = run.name();
  animation.up = run.up();
  for (std::size_t k : chosen) animation.times.push_back(run.frames()[k].time);
  std::set<std::string> names;
  std::set<std::size_t> shown;
  if (options.visual) shown = add_visual(run, chosen, names, animation);
  add_bodies(run, chosen, options, shown, names, animation);
  if (options.colliders) add_colliders(run, names, animation);
  if (options.springs) add_springs(run, chosen, animation);
  set_range(options, animation);
  return animation;
}

}  // namespace pliant
