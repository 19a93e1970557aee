// What a scene that runs tells about itself.
#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "pliant/contact/tessellate.hpp"
#include "pliant/io/catalogue_json.hpp"
#include "pliant/io/fields.hpp"
#include "pliant/math/parallel.hpp"
#include "pliant/view/live_scene.hpp"

namespace pliant::view {

namespace {

struct YoungPoisson {
  double young, poisson;
};
YoungPoisson young_poisson(const Lame& lame) {
  const double sum = lame.lambda + lame.mu;
  return {lame.mu * (3 * lame.lambda + 2 * lame.mu) / sum, lame.lambda / (2 * sum)};
}

/// Where they are one number.
std::optional<double> young_of(const Body& body) {
  if (body.rigid || body.is_link()) return std::nullopt;
  if (body.shell) return body.shell->material().young;
  if (body.rod) return body.rod->material().young;
  if (!body.is_solid() || body.lame.size() != 1) return std::nullopt;
  return young_poisson(body.law->linearised(body.lame[0])).young;
}
std::optional<double> poisson_of(const Body& body) {
  if (body.shell) return body.shell->material().poisson;
  if (body.rigid || body.is_link() || !body.is_solid() || body.lame.size() != 1) return std::nullopt;
  return young_poisson(body.law->linearised(body.lame[0])).poisson;
}

Json describe_body(const Model& model, const Scene& scene, const Surface& surface, std::size_t b) {
  const Body& body = model.bodies()[b];
  const bool is_link = body.is_link();
  const std::optional<double> young = young_of(body), poisson = poisson_of(body);
  Json json = {{"name", body.name},
               {"kind", body.rigid        ? "rigid"
                        : body.is_solid() ? "solid"
                        : is_link         ? "link"
                        : body.rod        ? "rod"
                                          : "springs"},
               {"material", is_link || !body.is_solid() || body.rigid ? "" : scene.bodies[b].material},
               {"young", young ? number_or_null(*young) : Json(nullptr)},
               {"poisson", poisson ? number_or_null(*poisson) : Json(nullptr)},
               {"density", body.rigid ? body.rigid->mass / body.rigid->volume : body.density},
               {"mass", body.mass()},
               {"nodes", body.nodes.size()},
               {"elements", body.is_solid() ? static_cast<std::int64_t>(body.mesh->tets().size())
                            : body.shell    ? static_cast<std::int64_t>(body.surface().size())
                            : body.rod      ? static_cast<std::int64_t>(body.rod->lengths().size())
                            : body.springs  ? static_cast<std::int64_t>(body.springs->stencils().count())
                                            : 0},
               {"order", is_link ? 1 : scene.bodies[b].order},
               {"vertices", surface.first_vertex[b + 1] - surface.first_vertex[b]},
               {"triangles", surface.first_triangle[b + 1] - surface.first_triangle[b]}};
  json["uncoloured"] = uncoloured(body.rigid || is_link, body.is_solid() || body.rod);
  return json;
}

std::string_view name_of(const Shape& shape) {
  constexpr std::array<std::string_view, 7> names = {"plane", "sphere", "box", "cylinder", "capsule", "torus", "bowl"};
  return names[shape.index()];
}

InBox rest_box(const Model& model) {
  InBox box{Vec3::Constant(std::numeric_limits<double>::infinity()),
            Vec3::Constant(-std::numeric_limits<double>::infinity())};
  for (Index i = 0; i < model.nodes(); ++i) {
    box.min = box.min.cwiseMin(node(model.rest(), i));
    box.max = box.max.cwiseMax(node(model.rest(), i));
  }
  return box;
}

/// A square on a plane, around the foot of the scene's centre.
TriangleMesh square(const PlaneShape& plane, const Vec3& centre, double size) {
  Vec3 u = plane.normal.unitOrthogonal(), v = plane.normal.cross(u);
  const Vec3 foot = centre - (centre - plane.point).dot(plane.normal) * plane.normal;
  u *= size;
  v *= size;
  TriangleMesh mesh;
  mesh.vertices = {foot - u - v, foot + u - v, foot + u + v, foot - u + v};
  mesh.triangles = {{0, 1, 2}, {0, 2, 3}};
  return mesh;
}

Json matrix(const RigidPose& pose) {
  const Vec3 shift = pose.centre - pose.rotation * pose.centre + pose.translation;
  const Mat3& R = pose.rotation;
  return Json::array({R(0, 0), R(1, 0), R(2, 0), 0, R(0, 1), R(1, 1), R(2, 1), 0, R(0, 2), R(1, 2), R(2, 2), 0,
                      shift.x(), shift.y(), shift.z(), 1});
}

bool moves(const Motion& motion) { return !motion.translation.keys.empty() || !motion.angle.keys.empty(); }

double potential(const Energy& energy, const Pose& pose) {
  constexpr Index kGrain = 512;
  const Index count = energy.stencils().count();
  std::vector<double> values(at(count));
  for_chunks(count, kGrain, [&](Index begin, Index end) {
    energy.evaluate(pose, {begin, end}, values.data() + begin, nullptr);
  });
  double sum = 0;
  for (double value : values) sum += value;
  return sum;
}

Json energies(const Model& model, const State& state) {
  VecX momentum;
  model.mass().multiply(state.v, momentum);
  const double kinetic = 0.5 * state.v.dot(momentum);
  VecX force;
  model.external_force(state.time, force);
  const double gravity = -(state.x - model.rest()).dot(force);
  double elastic = 0;
  for (const Energy* energy : model.energies()) elastic += potential(*energy, {state.x, state.activation, state.time});
  return {{"kinetic", number_or_null(kinetic)},
          {"elastic", number_or_null(elastic)},
          {"gravity", number_or_null(gravity)},
          {"total", number_or_null(kinetic + elastic + gravity)}};
}

Json to_json(const StageSeconds& s) {
  return {{"assembly", 1e3 * s.assembly}, {"factorisation", 1e3 * s.factorisation},
          {"solve", 1e3 * s.solve},       {"line_search", 1e3 * s.line_search},
          {"contact", 1e3 * s.contact},   {"total", 1e3 * s.total}};
}

Json history(const std::vector<IterationRecord>& records) {
  constexpr std::size_t kMost = 200;
  Json list = Json::array();
  for (std::size_t k = records.size() > kMost ? records.size() - kMost : 0; k < records.size(); ++k)
    list.push_back({{"force", number_or_null(records[k].force)},
                    {"acceleration", number_or_null(records[k].acceleration)},
                    {"energy", number_or_null(records[k].energy)},
                    {"alpha", number_or_null(records[k].alpha)}});
  return list;
}

/// Of elements at the nodes of the bodies that have a skin: the mean over those around, where it is finite.
std::vector<double> spread_over_nodes(const Model& model, std::span<const double> of_elements) {
  std::vector<double> sum(at(model.nodes()), 0.0);
  std::vector<int> count(sum.size(), 0);
  std::size_t first = 0;
  for (const Body& body : model.bodies()) {
    if (!body.is_solid()) {
      first += body.rod ? body.rod->lengths().size() : body.surface().size();
      continue;
    }
    const Stencils& stencils = body.energy().stencils();
    for (Index e = 0; e < stencils.count(); ++e, ++first) {
      if (first >= of_elements.size() || !std::isfinite(of_elements[first])) continue;
      for (const Index* i = stencils[e]; i < stencils[e] + stencils.size; ++i) {
        sum[at(*i)] += of_elements[first];
        ++count[at(*i)];
      }
    }
  }
  for (std::size_t i = 0; i < sum.size(); ++i)
    if (count[i] > 0) sum[i] /= count[i];
  return sum;
}

Json to_json(const ParameterMap& parameters) {
  Json json = Json::object();
  for (const auto& [key, value] : parameters) std::visit([&, &name = key](const auto& v) { json[name] = v; }, value);
  return json;
}

}  // namespace

Json LiveScene::describe() const {
  Json bodies = Json::array(), obstacles = Json::array();
  bool has_solid = false;
  for (std::size_t b = 0; b < model().bodies().size(); ++b) {
    bodies.push_back(describe_body(model(), scene(), surface_, b));
    has_solid = has_solid || model().bodies()[b].is_solid();
  }
  for (const SceneCollider& collider : scene().colliders)
    obstacles.push_back(
        {{"name", collider.collider.name},
         {"shape", collider.surface.empty() ? std::string(name_of(collider.collider.shape)) : "surface"}});
  const InBox box = rest_box(model());
  return {{"source", "scene"},
          {"path", path_.empty() ? Json(nullptr) : Json(path_)},
          {"name", scene().name},
          {"title", scene().title},
          {"time_step", opened_.dt},
          {"steps", scene().steps},
          {"gravity", view::to_json(opened_.gravity)},
          {"box", Json::array({view::to_json(box.min), view::to_json(box.max)})},
          {"notices", scene().notices},
          {"bodies", std::move(bodies)},
          {"obstacles", std::move(obstacles)},
          {"has_contact", model().contact() != nullptr},
          {"probes", probes_->columns()},
          {"solvers", pliant::to_json(fits())},
          {"can",
           {{"play", true},
            {"grab", true},
            {"pin", true},
            {"cut", has_solid && scene().energies.empty()},
            {"solver", true},
            {"compare", true},
            {"material", true},
            {"save", true}}}};
}

std::vector<TriangleMesh> LiveScene::obstacles() const {
  const InBox box = rest_box(model());
  const double size = 5 * std::max(1e-6, (box.max - box.min).norm());
  std::vector<TriangleMesh> meshes;
  for (const SceneCollider& collider : scene().colliders) {
    if (!collider.surface.empty()) {
      // Read from a file when the model was built; contact has it as it rests, after the colliders' own.
      TriangleMesh mesh;
      if (const auto& contact = model().contact()) {
        for (const ContactModel::Placed& placed : contact->obstacles)
          if (placed.name == collider.collider.name && placed.positions.size() > 0) {
            for (Index i = placed.positions.begin; i < placed.positions.end; ++i)
              mesh.vertices.emplace_back(node(contact->rest, i));
            for (const Triangle& t : contact->surface->triangles)
              if (t[0] >= placed.positions.begin && t[0] < placed.positions.end)
                mesh.triangles.push_back(
                    {t[0] - placed.positions.begin, t[1] - placed.positions.begin, t[2] - placed.positions.begin});
            break;
          }
      }
      meshes.push_back(std::move(mesh));
    } else if (const auto* plane = std::get_if<PlaneShape>(&collider.collider.shape)) {
      meshes.push_back(square(*plane, 0.5 * (box.min + box.max), size));
    } else {
      meshes.push_back(tessellate(collider.collider.shape, 48));
    }
  }
  return meshes;
}

Json LiveScene::settings() const {
  Json views = Json::array();
  for (const View& view : views_)
    views.push_back({{"solver", view.solver().name},
                     {"parameters", to_json(view.solver().parameters)},
                     {"trouble", view.trouble.empty() ? Json(nullptr) : Json(view.trouble)}});
  return {{"time_step", scene().dt},      {"gravity", view::to_json(scene().gravity)},
          {"stiffness", stiffness_},      {"strength", strength_},
          {"compare", views_.size() > 1}, {"pins", pins().size()},
          {"cuts", cuts_.size()},         {"frame", 0},
          {"views", std::move(views)}};
}

/// What the surface and behind it the skin are coloured by, from values of elements.
std::vector<double> LiveScene::colours_of_elements(std::span<const double> of_elements, Gathering gathering) const {
  std::vector<double> values;
  if (gathering == Gathering::mean)
    surface_.average(of_elements, values);
  else
    surface_.largest(of_elements, values);
  if (visual_.empty()) return values;
  const std::vector<double> at_nodes = spread_over_nodes(model(), of_elements);
  for (const VisualMesh& mesh : visual_) {
    const std::vector<double> of_mesh = mesh.values(at_nodes);
    values.insert(values.end(), of_mesh.begin(), of_mesh.end());
  }
  return values;
}

/// Of positions, or of another vector at each node, at the vertices of the surface and of the skin.
void LiveScene::gather(const VecX& x, bool are_positions, std::vector<Vec3>& vectors) const {
  surface_.gather(are_positions ? model().drawn(x) : model().drawn_vectors(x), vectors);
  std::size_t next = vectors.size();
  vectors.resize(next + skin_.rest.size());
  for (const VisualMesh& mesh : visual_) {
    mesh.positions(x, std::span(vectors[next].data(), 3 * at(mesh.vertices())));
    next += at(mesh.vertices());
  }
}

Drawing LiveScene::draw(int number, Colour colour) {
  View& view = views_[at(number)];
  Drawing drawing;
  drawing.time = view.state().time;
  drawing.step = view.state().step;
  gather(view.state().x, true, drawing.positions);
  const auto set_lengths = [&](const VecX& of_nodes) {
    std::vector<Vec3> vectors;
    gather(of_nodes, false, vectors);
    for (const Vec3& v : vectors) drawing.values.push_back(v.norm());
  };
  switch (colour) {
    case Colour::none:
      return drawing;
    case Colour::stress:
    case Colour::stretch: {
      std::vector<double> of_elements;
      for (const Body& body : model().bodies()) {
        const ElementFields fields = element_fields(body, {view.state().x, view.state().activation, view.state().time});
        const std::vector<double>& field = colour == Colour::stress ? fields.von_mises : fields.stretch;
        // What holds a rigid body in shape is no stress of its own, and would set the range of all others.
        if (body.rigid || body.is_link())
          of_elements.insert(of_elements.end(), field.size(), std::numeric_limits<double>::quiet_NaN());
        else
          of_elements.insert(of_elements.end(), field.begin(), field.end());
      }
      drawing.values = colours_of_elements(of_elements, Gathering::mean);
      break;
    }
    case Colour::speed:
      set_lengths(view.state().v);
      break;
    case Colour::error:
      set_lengths(view.state().x - views_[views_.size() > 1 ? at(1 - number) : 0].state().x);
      break;
    case Colour::refreshed:
      drawing.values.assign(drawing.positions.size(), 0.0);
      for (const ElementValues& field : view.simulation.stepper().element_values())
        if (field.name == "refreshed") drawing.values = colours_of_elements(field.values, Gathering::most);
      break;
  }
  view.range.follow(colour, drawing);
  return drawing;
}

Json LiveScene::telemetry() {
  constexpr auto kEnergyEvery = std::chrono::milliseconds(100);
  Json json = {{"time", state(0).time}, {"step", state(0).step}};
  Json grabs = Json::array(), views = Json::array();
  for (const auto& [hand, held] : hands_)
    for (std::size_t v = 0; v < views_.size(); ++v)
      grabs.push_back({{"hand", hand.second},
                       {"view", v},
                       {"point", view::to_json(held.grab.point(views_[v].state().x))},
                       {"target", view::to_json(held.grab.target)}});
  json["grabs"] = std::move(grabs);
  if (std::any_of(scene().colliders.begin(), scene().colliders.end(),
                  [](const SceneCollider& c) { return moves(c.collider.motion); })) {
    json["obstacles"] = Json::array();
    for (const SceneCollider& collider : scene().colliders)
      json["obstacles"].push_back(matrix(collider.collider.motion.pose(state(0).time)));
  }
  const auto now = std::chrono::steady_clock::now();
  for (std::size_t v = 0; v < views_.size(); ++v) {
    View& view = views_[v];
    if (view.energy.is_null() || now - view.energy_time > kEnergyEvery) {
      view.energy = energies(model(), view.state());
      view.energy_time = now;
    }
    const StepReport& r = view.report;
    Json figures = Json::object();
    for (const Figure& figure : r.figures) figures[std::string(figure.name)] = number_or_null(figure.value);
    Json entry = {{"solver", view.solver().name},
                  {"outcome", to_string(r.outcome)},
                  {"ok", view.trouble.empty() && r.succeeded()},
                  {"detail", r.detail},
                  {"iterations", r.iterations},
                  {"factorisations", r.factorisations},
                  {"linear_iterations", r.linear_iterations},
                  {"line_search_evaluations", r.line_search_evaluations},
                  {"ms", to_json(r.seconds)},
                  {"residuals",
                   {{"force", number_or_null(r.residuals.force)},
                    {"acceleration", number_or_null(r.residuals.acceleration)},
                    {"step_length", number_or_null(r.residuals.step_length)}}},
                  {"history", history(r.history)},
                  {"energy", view.energy},
                  {"gap", number_or_null(r.minimum_gap)},
                  {"contacts", r.contacts},
                  {"figures", std::move(figures)}};
    if (!probes_->empty()) {
      Json& numbers = entry["probes"] = Json::array();
      for (double value : probes_->sample(view.simulation)) numbers.push_back(number_or_null(value));
    }
    if (const TieEnergy* ties = model().ties())
      for (const Tie& tie : ties->ties())
        if (tie.is_spring()) {
          const auto [from, to] = tie.ends(view.state().x);
          entry["springs"].push_back({view::to_json(from), view::to_json(to)});
        }
    if (views_.size() > 1) {
      double sum = 0;
      for (const VecX apart = model().drawn_vectors(view.state().x - state(0).x); Index i : surface_.nodes)
        sum += node(apart, i).squaredNorm();
      entry["error"] = number_or_null(std::sqrt(sum / std::max<double>(1, static_cast<double>(surface_.nodes.size()))));
    }
    views.push_back(std::move(entry));
  }
  json["views"] = std::move(views);
  return json;
}

}  // namespace pliant::view
