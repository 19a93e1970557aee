#include "pliant/io/summary.hpp"

#include <oneapi/tbb/global_control.h>

#include <nlohmann/json.hpp>

#include "pliant/base/atomic_file.hpp"
#include "pliant/io/build_info.hpp"
#include "pliant/sim/judgement.hpp"

namespace pliant {

namespace {

using Json = nlohmann::ordered_json;

Json vector_json(const Vec3& v) { return {v.x(), v.y(), v.z()}; }

Json picture_json(const ScenePicture& picture) {
  Json json = {{"fov", picture.field_of_view}, {"colour", picture.colour}, {"size", {picture.width, picture.height}},
               {"legend", picture.legend},     {"stamp", picture.stamp},   {"wireframe", picture.wireframe},
               {"shadows", picture.shadows}};
  if (picture.from) json["from"] = vector_json(*picture.from);
  if (picture.at) json["at"] = vector_json(*picture.at);
  if (picture.range) json["range"] = *picture.range;
  if (picture.background) json["background"] = vector_json(*picture.background);
  return json;
}

/// Springs that have a length, with the nodes that move their ends: what pictures draw them by.
Json springs_json(const Model& model) {
  Json springs = Json::array();
  if (!model.ties()) return springs;
  for (const Tie& tie : model.ties()->ties())
    if (tie.is_spring())
      springs.push_back({{"nodes", tie.nodes},
                         {"first_end", tie.first_end},
                         {"weights", tie.weights},
                         {"offset", vector_json(tie.offset)},
                         {"rest_length", tie.rest_length}});
  return springs;
}

Json scene_json(const Scene& scene, const Model& model, const RunResult& result) {
  Json bodies = Json::array();
  for (std::size_t b = 0; b < result.bodies.size(); ++b) {  // which no process has as a whole
    const BodyFigures& body = result.bodies[b];
    const auto count = [](double number) { return static_cast<std::int64_t>(number); };
    bodies.push_back({{"name", scene.bodies[b].name},
                      {"vertices", count(body.vertices)},
                      {"elements", count(body.elements)},
                      {"order", scene.bodies[b].order},
                      {"material", scene.bodies[b].material},
                      {"nodes", count(body.nodes)},
                      {"mass", body.mass}});
  }
  for (std::size_t b = 0; b < model.bodies().size() && result.bodies.empty(); ++b) {
    const Body& body = model.bodies()[b];
    Json json = {{"name", body.name}, {"vertices", body.vertices().size()}};
    if (body.is_solid()) {
      json["elements"] = body.mesh->tets().size();
      json["order"] = body.elements->reference().order();
      json["material"] = body.law->info().name;
      for (const Fibres& fibres : body.fibres) json["fibres"].push_back(fibres.law->info().name);
    } else if (body.shell) {
      json["triangles"] = body.surface().size();
      json["thickness"] = body.shell->material().thickness;
    } else if (body.rod) {
      json["segments"] = body.rod->stencils().count();
      json["radius"] = body.rod->material().radius;
    } else {
      json["springs"] = body.springs->stencils().count();
    }
    if (body.rigid || body.is_link()) json["rigid"] = true;
    json["nodes"] = body.nodes.size();
    json["mass"] = body.mass();
    bodies.push_back(std::move(json));
  }
  return {{"name", scene.name},
          {"title", scene.title},
          {"file", scene.path.filename().string()},
          {"dt", scene.dt},
          {"steps", result.steps},
          {"gravity", vector_json(scene.gravity)},
          {"mass", scene.mass == MassKind::lumped ? "lumped" : "consistent"},
          {"bodies", std::move(bodies)},
          {"springs", springs_json(model)},
          {"picture", picture_json(scene.picture)}};
}

Json solver_json(const SceneSolver& solver) {
  Json parameters = Json::object();
  for (const auto& [key, value] : solver.parameters)
    std::visit([&, k = key](const auto& v) { parameters[k] = v; }, value);
  return {{"name", solver.name},
          {"parameters", std::move(parameters)},
          {"on_failure", solver.on_failure == OnFailure::stop ? "stop" : "continue"}};
}

/// How the bodies ended.
Json state_json(const Model& model, const RunResult& result) {
  if (!result.bodies.empty()) {
    double inverted = 0;
    for (const BodyFigures& body : result.bodies) inverted += body.inverted;
    return {{"inverted_elements", static_cast<std::int64_t>(inverted)}};
  }
  const State& state = result.state;
  Index inverted = 0;
  for (const Body& body : model.bodies()) inverted += body.elastic ? body.elastic->count_inverted(state.x) : 0;
  return {{"inverted_elements", inverted}, {"size_over_rest", largest_growth(model, state.x).times}};
}

/// null for steps that were solved.
Json last_step_json(const std::optional<LastStep>& last) {
  if (!last) return nullptr;
  return {{"distance_from_solution", last->distance}, {"motion", last->motion}, {"is_far", last->is_far}};
}

}  // namespace

void write_summary(const std::filesystem::path& file, const Scene& scene, const Model& model, const RunResult& result) {
  const RunTotals& t = result.totals;
  const double steps = t.steps > 0 ? static_cast<double>(t.steps) : 1;
  const Machine machine = this_machine();
  Json json = {{"scene", scene_json(scene, model, result)},
               {"solver", solver_json(scene.solver)},
               {"end", to_string(result.end)},
               {"detail", result.last_report.detail},
               {"doubts", result.doubts},
               {"steps", result.state.step},
               {"simulated_seconds", result.state.time},
               {"outcomes", t.outcomes},
               {"bodies", state_json(model, result)},
               {"last_step", last_step_json(result.last_step)},
               {"frames", {{"values_not_finite", result.not_finite}}},
               {"totals",
                {{"iterations", t.iterations},
                 {"factorisations", t.factorisations},
                 {"failed_factorisations", t.failed_factorisations},
                 {"linear_iterations", t.linear_iterations},
                 {"projected_iterations", t.projected_iterations},
                 {"line_search_evaluations", t.line_search_evaluations},
                 {"newton_steps", t.newton_steps},
                 {"smallest_alpha", t.smallest_alpha}}},
               {"means",
                {{"iterations_per_step", static_cast<double>(t.iterations) / steps},
                 {"factorisations_per_step", static_cast<double>(t.factorisations) / steps}}},
               {"seconds",
                {{"assembly", t.seconds.assembly},
                 {"factorisation", t.seconds.factorisation},
                 {"solve", t.seconds.solve},
                 {"line_search", t.seconds.line_search},
                 {"contact", t.seconds.contact},
                 {"stepping", t.seconds.total},
                 {"per_step", t.seconds.total / steps},
                 {"wall", result.wall_seconds}}},
               {"real_time_factor", t.seconds.total > 0 ? result.state.time / t.seconds.total : 0},
               {"resumed_at_step", result.first_step},
               {"machine",
                {{"processor", machine.processor},
                 {"cores", machine.cores},
                 {"threads", tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism)}}},
               {"version", version()},
               {"commit", commit()}};
  for (const ProcessFigures& figures : result.processes) {
    Json process = Json::object();
    for (const auto& [name, number] : figures) process[name] = number;
    json["processes"].push_back(std::move(process));
  }
  // A scene's file name need not be UTF-8.
  write_atomically(file, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace pliant
