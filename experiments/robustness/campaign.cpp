// Every solver with every law that it takes, hanging, dropped, twisted, pulled and squeezed, soft and stiff, on a box,
// on poor elements and on meshes given by a path; default settings; beside a converged run of Newton's method. A body
// may be wrong by much, but a run that reports success may not have exploded.

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>

#include "experiments/random.hpp"
#include "experiments/robustness/robustness.hpp"
#include "pliant/base/error.hpp"
#include "pliant/io/doubts.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/read_mesh.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

namespace {

constexpr double kFps = 60, kDensity = 1000;
constexpr double kBone = 5e4;  ///< times as stiff as flesh

/// A body of about one metre along x, with its ends.
struct CampaignMesh {
  std::string name;
  std::shared_ptr<const TetMesh> tets;
  double size = 1;    ///< diagonal of its box, m
  double length = 0;  ///< of an edge, as if all elements were regular, m
  Vec3 low, high;
};

CampaignMesh campaign_mesh(const std::string& name, MeshData data) {
  CampaignMesh mesh;
  mesh.name = name;
  Vec3 low = Vec3::Constant(1e300), high = -low;
  for (const Vec3& p : data.vertices) low = low.cwiseMin(p), high = high.cwiseMax(p);
  const double scale = 1 / (high - low).maxCoeff();
  for (Vec3& p : data.vertices) p = scale * (p - low);
  mesh.low.setZero();
  mesh.high = scale * (high - low);
  mesh.size = mesh.high.norm();
  mesh.tets = std::make_shared<TetMesh>(std::move(data));
  double volume = 0;
  for (const auto& t : mesh.tets->tets()) {
    const auto corner = [&](std::size_t k) { return mesh.tets->vertices()[static_cast<std::size_t>(t[k])]; };
    const Vec3 a = corner(1) - corner(0), b = corner(2) - corner(0), c = corner(3) - corner(0);
    volume += std::abs(a.cross(b).dot(c)) / 6;
  }
  mesh.length = std::cbrt(12 / std::sqrt(2.0) * volume / static_cast<double>(mesh.tets->tets().size()));
  return mesh;
}

}  // namespace

MeshData poor_box(Index cells) {
  MeshData data = box({.size = {1, 0.25, 0.25}, .cells = {4 * cells, cells, cells}});
  Random random(11);
  const double cell = 0.25 / static_cast<double>(cells);
  const auto worst_volume = [&] {
    double worst = 1e300;
    for (const auto& t : data.tets) {
      const auto corner = [&](std::size_t k) { return data.vertices[static_cast<std::size_t>(t[k])]; };
      worst = std::min(worst, (corner(1) - corner(0)).cross(corner(2) - corner(0)).dot(corner(3) - corner(0)));
    }
    return worst;
  };
  for (Vec3& p : data.vertices) {
    const Vec3 before = p;
    for (int axis = 0; axis < 3; ++axis) {
      const double end = axis == 0 ? 1 : 0.25;
      if (p[axis] > 1e-9 && p[axis] < end - 1e-9) p[axis] += 0.6 * cell * random.symmetric();
    }
    if (worst_volume() < 1e-3 * cell * cell * cell) p = before;
  }
  return data;
}

namespace {

struct CampaignCase {
  const CampaignMesh* mesh;
  std::string law, load;
  double kappa, poisson;
};

/// The stiffness number of docs/pxpbd.md, for boxes of five tetrahedra a cell, is 12.6 times E h^2 / (rho length^2).
double young_of(const CampaignCase& c) {
  return c.kappa / 12.6 * kDensity * c.mesh->length * c.mesh->length * kFps * kFps;
}

std::vector<Index> end_of(const CampaignMesh& mesh, bool far) {
  std::vector<Index> nodes;
  const double depth = 0.08 * mesh.high.x();
  for (std::size_t i = 0; i < mesh.tets->vertices().size(); ++i) {
    const double x = mesh.tets->vertices()[i].x();
    if (far ? x > mesh.high.x() - depth : x < depth) nodes.push_back(static_cast<Index>(i));
  }
  return nodes;
}

/// Along the axis of the body's box, over half of its width.
std::vector<Lame> bone_in_flesh(const CampaignMesh& mesh, const Lame& flesh) {
  std::vector<Lame> lame;
  for (const auto& t : mesh.tets->tets()) {
    Vec3 centre = Vec3::Zero();
    for (const Index i : t) centre += 0.25 * mesh.tets->vertices()[static_cast<std::size_t>(i)];
    const Vec3 from_axis = (centre.cwiseQuotient(mesh.high) - Vec3::Constant(0.5)).cwiseAbs();
    const bool is_bone = from_axis.y() < 0.25 && from_axis.z() < 0.25;
    lame.push_back(is_bone ? Lame{kBone * flesh.mu, kBone * flesh.lambda} : flesh);
  }
  return lame;
}

std::shared_ptr<const Model> campaign_model(const CampaignCase& c) {
  const CampaignMesh& mesh = *c.mesh;
  BodyOptions body;
  body.name = "body";
  body.mesh = mesh.tets;
  body.density = kDensity;
  body.material = {find_law(c.law), lame_from_young(young_of(c), c.poisson)};
  if (c.load == "bone") body.lame = bone_in_flesh(mesh, body.material.lame);
  if (c.load == "impact") body.velocity = {0, -300, 0};
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(body);
  if (c.load == "drop" || c.load == "impact") {
    Collider floor;
    floor.name = "floor";
    floor.shape = PlaneShape{Vec3(0, -0.3, 0), Vec3::UnitY()};
    builder.add_collider(floor);
    return builder.build();
  }
  builder.add_pin({"near end", end_of(mesh, false)});
  if (c.load == "hang" || c.load == "bone") return builder.build();
  if (c.load != "squeeze") builder.set_gravity(Vec3::Zero());  // which would have no way to buckle without
  Script end;
  end.name = "far end";
  end.nodes = end_of(mesh, true);
  if (c.load == "twist") {
    end.motion.centre = 0.5 * mesh.high;
    end.motion.angle.keys = {{0, 0.0}, {0.5, M_PI}};
  } else if (c.load == "pull") {
    end.motion.translation.keys = {{0, Vec3::Zero()}, {0.3, Vec3(0.4 * mesh.high.x(), 0, 0)}};
    end.release = 0.4;
  } else {
    end.motion.translation.keys = {{0, Vec3::Zero()}, {0.5, Vec3(-0.4 * mesh.high.x(), 0, 0)}};
  }
  builder.add_script(end);
  return builder.build();
}

struct CampaignRun {
  std::string solver, outcome = "completed", detail;
  bool is_taken = false;     ///< the solver takes the law
  bool is_doubtful = false;  ///< by the judgement of `pliant run`
  int steps = 0, inverted = 0;
  int inverted_by_newton = 0;  ///< by pod-newton in the last step, from where that step began
  double extent = 1;           ///< the largest diagonal of its box, over the one at rest
  double ms = 0;
  int corrections = 0, repaired = 0;  ///< steps of Newton's method that ended or replaced the solver's own
  std::vector<VecX> states;
};

double extent_of(const VecX& x) {
  Vec3 low = Vec3::Constant(1e300), high = -low;
  for (Eigen::Index i = 0; i + 2 < x.size(); i += 3)
    low = low.cwiseMin(x.segment<3>(i)), high = high.cwiseMax(x.segment<3>(i));
  return (high - low).norm();
}

int inverted_elements(const TetMesh& mesh, const VecX& x) {
  int count = 0;
  for (const auto& t : mesh.tets()) {
    const Vec3 o = node(x, t[0]);
    count += !((Vec3(node(x, t[1])) - o).cross(Vec3(node(x, t[2])) - o).dot(Vec3(node(x, t[3])) - o) > 0);
  }
  return count;
}

CampaignRun run_case(const CampaignCase& c, const std::string& solver, const ParameterMap& settings, double seconds) {
  CampaignRun run;
  run.solver = solver;
  std::shared_ptr<const Model> model;
  std::unique_ptr<Stepper> stepper;
  try {
    model = campaign_model(c);
    stepper = make_stepper(model, solver, settings);
  } catch (const InputError& error) {
    run.outcome = "refused";
    run.detail = error.what();
    return run;
  }
  run.is_taken = true;
  State state = model->rest_state();
  const double at_rest = extent_of(state.x);
  const auto begin = std::chrono::steady_clock::now();
  const int steps = static_cast<int>(std::lround(seconds * kFps));
  State before;  // the last step
  Doubts doubts;
  for (int k = 0; k < steps; ++k) {
    if (k == steps - 1) before = state;
    doubts.before_step(model, state, steps);
    const StepReport report = stepper->step(state, 1 / kFps);
    if (!report.succeeded()) {
      run.outcome = to_string(report.outcome);
      run.detail = report.detail;
      break;
    }
    ++run.steps;
    doubts.after_step(*model, state, report);
    for (const Figure& figure : report.figures) {
      if (figure.name == "corrections") run.corrections += static_cast<int>(figure.value);
      if (figure.name == "repaired") run.repaired += static_cast<int>(figure.value);
    }
    run.extent = std::max(run.extent, extent_of(state.x) / at_rest);
    run.states.push_back(state.x);
  }
  run.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count() /
           std::max(1, run.steps);
  if (run.outcome == "completed") {
    SceneSolver told;
    told.name = solver;
    told.parameters = settings;
    doubts.at_end(*model, state);
    doubts.judge(told, 1 / kFps);
    run.is_doubtful = !doubts.empty();
  }
  run.inverted = inverted_elements(*c.mesh->tets, state.x);
  if (run.inverted > 0 && run.steps == steps && make_stepper(model, "pod-newton")->step(before, 1 / kFps).succeeded())
    run.inverted_by_newton = inverted_elements(*c.mesh->tets, before.x);
  return run;
}

/// Root mean square over nodes, the largest over time, over the body's size.
double distance_between(const CampaignRun& a, const CampaignRun& b, double size) {
  double worst = 0;
  for (std::size_t k = 0; k < std::min(a.states.size(), b.states.size()); ++k)
    worst =
        std::max(worst, (a.states[k] - b.states[k]).norm() / std::sqrt(static_cast<double>(a.states[k].size()) / 3));
  return worst / size;
}

std::vector<CampaignMesh> campaign_meshes(const Context& context) {
  const auto cells = static_cast<Index>(context.number("cells"));
  std::vector<CampaignMesh> meshes;
  for (const std::string& name : context.list("meshes")) {
    if (name == "box")
      meshes.push_back(campaign_mesh(name, box({.size = {1, 0.25, 0.25}, .cells = {4 * cells, cells, cells}})));
    else if (name == "poor")
      meshes.push_back(campaign_mesh(name, poor_box(cells)));
    else
      meshes.push_back(campaign_mesh(std::filesystem::path(name).stem().string(), read_mesh_data(name)));
  }
  return meshes;
}

std::vector<std::string> all_or(const std::vector<std::string>& given, std::vector<std::string> all) {
  return given.size() == 1 && given[0] == "all" ? std::move(all) : given;
}

/// From key=value.
ParameterMap settings_of(const std::vector<std::string>& given) {
  ParameterMap settings;
  for (const std::string& setting : given) {
    const auto at = setting.find('=');
    if (at == std::string::npos) continue;
    const std::string key = setting.substr(0, at), value = setting.substr(at + 1);
    if (value.find_first_not_of("0123456789") == std::string::npos)
      settings[key] = static_cast<std::int64_t>(std::stoll(value));
    else if (value.find_first_not_of("0123456789.e-") == std::string::npos)
      settings[key] = std::stod(value);
    else
      settings[key] = value;
  }
  return settings;
}

/// The exit code that `pliant run` would end with.
int exit_code(const CampaignRun& run) {
  if (run.outcome != "completed") return 1;
  return run.is_doubtful ? 3 : 0;
}

void check_robustness(Context& context) {
  int silent = 0, worse = 0, ended = 0;
  const auto total = static_cast<int>(context.rows().size());
  for (const Json& row : context.rows()) {
    const int code = row["exit_code"].get<int>();
    ended += code == 1;
    if (code == 1 || !row["newton_extent"].is_number()) continue;
    const bool exploded = row["extent"].get<double>() > 3 * row["newton_extent"].get<double>();
    const bool inverted = row["inverted"].get<int>() > 0 && row["newton_inverted"].get<int>() == 0;
    silent += code == 0 && (exploded || inverted);
    worse += exploded || inverted;
  }
  context.check(
      {"runs that end with exit code 0 and exploded: larger than three times Newton's body, or with inverted "
       "elements where Newton has none",
       0, silent, silent == 0 && total > 0});
  context.check({"at most one run in a hundred exploded or ended so, though told with exit code 3", 0.01,
                 total > 0 ? double(worse) / total : 1.0, total > 0 && 100 * worse <= total});
  context.check({"at most one run in ten is given up", 0.1, total > 0 ? double(ended) / total : 1.0,
                 total > 0 && 10 * ended <= total});
}

void run_campaign(Context& context) {
  std::vector<std::string> every_solver, every_law;
  for (const SolverEntry& entry : solver_catalogue()) every_solver.push_back(entry.name);
  for (const auto& law : laws()) every_law.push_back(law->info().name);
  const auto solvers = all_or(context.list("solvers"), every_solver),
             law_names = all_or(context.list("laws"), every_law);
  const double seconds = context.number("duration"), poisson = context.number("poisson");
  const ParameterMap settings = settings_of(context.list("settings"));
  const std::vector<CampaignMesh> meshes = campaign_meshes(context);
  std::vector<CampaignCase> cases;
  for (const CampaignMesh& mesh : meshes)
    for (const double kappa : context.numbers("kappa"))
      for (const std::string& load : context.list("loads"))
        for (const std::string& law : law_names) cases.push_back({&mesh, law, load, kappa, poisson});
  for (std::size_t n = 0; n < cases.size() && !context.stopped(); ++n) {
    const CampaignCase& c = cases[n];
    context.progress(static_cast<double>(n) / static_cast<double>(cases.size()),
                     fmt::format("{}, {}, {}, kappa {}", c.mesh->name, c.load, c.law, c.kappa));
    // The last run is the reference.
    std::vector<CampaignRun> runs(solvers.size() + 1);
    tbb::parallel_for(std::size_t(0), runs.size(), [&](std::size_t s) {
      runs[s] =
          s < solvers.size() ? run_case(c, solvers[s], settings, seconds) : run_case(c, "pod-newton", {}, seconds);
    });
    const CampaignRun& newton = runs.back();
    const bool has_reference = newton.outcome == "completed";
    for (std::size_t s = 0; s < solvers.size(); ++s) {
      const CampaignRun& run = runs[s];
      if (!run.is_taken) continue;
      context.row({{"mesh", c.mesh->name},
                   {"nodes", c.mesh->tets->vertices().size()},
                   {"load", c.load},
                   {"law", c.law},
                   {"kappa", c.kappa},
                   {"solver", run.solver},
                   {"outcome", run.outcome},
                   {"exit_code", exit_code(run)},
                   {"steps", run.steps},
                   {"extent", run.extent},
                   {"newton_extent", has_reference ? Json(newton.extent) : Json()},
                   {"inverted", run.inverted},
                   {"newton_inverted", newton.inverted},
                   {"inverted_by_newton_from_there", run.inverted_by_newton},
                   {"off", has_reference && run.steps > 0 ? Json(distance_between(run, newton, c.mesh->size)) : Json()},
                   {"newton_steps", run.corrections + run.repaired},
                   {"ms", run.ms},
                   {"detail", run.detail}});
    }
  }
  check_robustness(context);
}

}  // namespace

std::vector<Experiment> robustness_experiments() {
  return {
      {"robustness/campaign",
       "Every solver with every law it takes, five loads, soft to stiff, on good, poor and real meshes, beside Newton",
       {{"solvers", "all", "all", "which, or all"},
        {"laws", "all", "neo-hookean,stable-neo-hookean,fixed-corotated,linear-corotated,stvk", "which, or all"},
        {"loads", "hang,drop,twist,pull,squeeze", "hang,drop,twist,pull,squeeze",
         "which; also bone: hung with a bone of 50000 times the stiffness, impact: on the floor at 300 m/s"},
        {"kappa", "1,10,100,600", "10,600", "stiffness numbers (docs/pxpbd.md)"},
        {"meshes", "box,poor", "box", "box, poor, or paths of mesh files"},
        {"cells", "4", "3", "across the box"},
        {"poisson", "0.4", "0.4", "Poisson's ratio"},
        {"settings", "", "", "of the solvers, as key=value"},
        {"duration", "1", "0.5", "simulated seconds"}},
       run_campaign},
      real_bodies()};
}

}  // namespace pliant::experiments
