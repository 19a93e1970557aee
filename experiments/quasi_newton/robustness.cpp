// Figs. 18 and 3 of quasi-newton: a hippo with every vertex at a random place returns to rest, for every law that
// resists inversion; and the squirrel without a line search flies apart.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/quasi_newton/quasi_newton.hpp"
#include "experiments/quasi_newton/scenes.hpp"
#include "experiments/random.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

namespace {

/// Held at one end, without gravity.
std::shared_ptr<const Model> held_body(const std::shared_ptr<const TetMesh>& mesh, const std::string& law, Lame lame,
                                       const Vec3& gravity) {
  BodyOptions body;
  body.mesh = mesh;
  body.material = {find_law(law), lame};
  ModelBuilder builder;
  builder.set_gravity(gravity);
  builder.add_body(body);
  builder.add_pin({"held", end_of(*mesh, longest_axis(*mesh), false)});
  return builder.build();
}

void scatter(const Model& model, State& state) {
  Vec3 low = node(model.rest(), 0), high = low;
  for (Index i = 0; i < model.nodes(); ++i) {
    low = low.cwiseMin(node(model.rest(), i));
    high = high.cwiseMax(node(model.rest(), i));
  }
  Random random(2017);
  for (Index i = 0; i < model.nodes(); ++i)
    for (int c = 0; c < 3; ++c) node(state.x, i)[c] = low[c] + random.unit() * (high[c] - low[c]);
}

void random_start(Context& context) {
  const Table1Scene& scene = table1_scene("hippo");
  const auto mesh = table1_mesh(scene, context.text("meshes"), context.number("scale"));
  const int frames = static_cast<int>(context.number("frames"));
  std::vector<std::string> names;
  for (const auto& law : laws())
    if (law->info().survives_inversion && law->info().name != "valanis-landel")  // which is whatever one draws
      names.push_back(law->info().name);
  Json stuck = Json::array();
  for (std::size_t k = 0; k < names.size() && !context.stopped(); ++k) {
    // Even in the stretches: an element turned inside out is at rest, and stays.
    const bool even = names[k] == "stvk";
    const auto model = held_body(mesh, names[k], {scene.mu, scene.lambda}, Vec3::Zero());
    const auto stepper = make_stepper(model, "quasi-newton");
    State state = model->rest_state();
    scatter(*model, state);
    std::vector<double> distance;
    bool finite = true;
    for (int frame = 0; frame < frames && finite && !context.stopped(); ++frame) {
      context.progress((static_cast<double>(k) + frame / double(frames)) / (static_cast<double>(names.size()) + 1),
                       names[k]);
      finite = stepper->step(state, kFrame).advanced() && state.x.allFinite();
      distance.push_back((state.x - model->rest()).cwiseAbs().maxCoeff() / scene.size);
    }
    const double last = distance.empty() ? 1 : distance.back();
    const bool back = finite && last < 0.05;
    context.row({{"law", names[k]},
                 {"vertices", model->nodes()},
                 {"frames", distance.size()},
                 {"finite", finite},
                 {"farthest_from_rest", last},
                 {"back", back},
                 {"distance", distance}});
    if (!back && !even) stuck.push_back(names[k]);
  }
  context.check(
      {"from random places every vertex returns to within 5% of its size, for every law that resists inversion "
       "(those that do not)",
       "corotated, fig. 18", stuck, stuck.empty()});
}

/// Fig. 3: a kick, with and without a line search.
void without_line_search(Context& context) {
  const Table1Scene& scene = table1_scene("squirrel");
  const auto mesh = table1_mesh(scene, context.text("meshes"), context.number("scale"));
  const auto model = held_body(mesh, scene.law, {scene.mu, scene.lambda}, {0, -9.81, 0});
  std::map<std::string, double> largest;
  for (const char* search : {"robust", "none"}) {
    const auto stepper = make_stepper(model, "quasi-newton", {{"line_search", search}});
    State state = model->rest_state();
    for (Index i = 0; i < model->nodes(); ++i) node(state.v, i).x() = 5 * scene.size;
    double farthest = 0;
    for (int frame = 0; frame < 60 && !context.stopped(); ++frame) {
      if (!stepper->step(state, kFrame).advanced() || !state.x.allFinite()) farthest = 1e300;
      if (farthest >= 1e300) break;
      farthest = std::max(farthest, (state.x - model->rest()).cwiseAbs().maxCoeff() / scene.size);
    }
    largest[search] = farthest;
    context.row({{"law", fmt::format("{}, line search {}", scene.law, search)},
                 {"vertices", model->nodes()},
                 {"farthest_from_rest", farthest}});
  }
  context.check({"a kicked squirrel: how far vertices fly, in its size, with and without a line search",
                 "unstable without, fig. 3", Json::array({largest["robust"], largest["none"]}),
                 largest["robust"] < 10 && largest["none"] > 10 * largest["robust"]});
}

void run_robustness(Context& context) {
  random_start(context);
  if (!context.stopped()) without_line_search(context);
}

}  // namespace

Experiment robustness() {
  return {"quasi-newton/robustness",
          "Return to rest from random positions; no line search, no stability (figs. 18, 3)",
          {{"meshes", "", "", "folder with hippo.mesh and squirrel_modified.mesh; empty: generated stand-ins"},
           {"scale", "1", "0.5", "resolution of the stand-ins"},
           {"frames", "600", "300", "of 1/30 s after the random start"}},
          run_robustness};
}

}  // namespace pliant::experiments
