// Ten minutes of somebody pulling at a body with a mouse: grabs of random points of its surface, dragged about and let
// go. Nothing may diverge.

#include <algorithm>
#include <cmath>

#include "experiments/meshes.hpp"
#include "experiments/quasi_newton/quasi_newton.hpp"
#include "experiments/quasi_newton/scenes.hpp"
#include "experiments/random.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/sim/grab.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

namespace {

void run_pulling(Context& context) {
  const auto data = find_mesh(context, "hippo");
  const auto mesh = std::make_shared<TetMesh>(data ? *data : cylinder({.radius = 0.4, .length = 1.7, .cells = 8}));
  const double size = extent_of(mesh->vertices());
  const int frames = static_cast<int>(context.number("seconds") / kFrame);
  bool all_finite = true;
  double farthest = 0;
  for (const std::string& law : context.list("laws")) {
    BodyOptions body;
    body.mesh = mesh;
    body.material = {find_law(law), {3.4e4, 1.7e5}};
    ModelBuilder builder;
    builder.set_gravity({0, -9.81, 0});
    builder.add_body(body);
    builder.add_pin({"held", outermost(*mesh, -Vec3::Unit(longest_axis(*mesh)), mesh->vertices().size() / 20)});
    const auto model = builder.build();
    const auto stepper = make_stepper(model, context.text("solver"));
    State state = model->rest_state();
    Random random(42);
    std::vector<double> reach;
    double ms = 0, most = 0;
    Vec3 drift = Vec3::Zero();
    int pulls = 0, done = 0;
    bool finite = true;
    for (; done < frames && finite && !context.stopped(); ++done) {
      context.progress(done / double(frames), law);
      if (done % 45 == 0) {  // a second and a half each; every third is a pause
        state.grabs.clear();
        if (done / 45 % 3 != 2) {
          const Vec3 d = random.direction();
          if (const auto grab = grab_along_ray(*model, state.x, -3 * size * d, d, 30)) {
            state.grabs.push_back(*grab);
            drift = 0.7 * size * random.direction();  // m/s
            ++pulls;
          }
        }
      }
      for (Grab& grab : state.grabs) grab.target += kFrame * drift;
      const StepReport report = stepper->step(state, kFrame);
      finite = report.advanced() && state.x.allFinite();
      ms += 1e3 * report.seconds.total;
      most = std::max(most, (state.x - model->rest()).cwiseAbs().maxCoeff() / size);
      if (done % 30 == 0) reach.push_back((state.x - model->rest()).cwiseAbs().maxCoeff() / size);
    }
    context.row({{"law", law},
                 {"vertices", model->nodes()},
                 {"seconds", done * kFrame},
                 {"pulls", pulls},
                 {"ms", ms / std::max(1, done)},
                 {"finite", finite},
                 {"farthest", most},
                 {"reach", reach}});
    all_finite = all_finite && finite;
    farthest = std::max(farthest, most);
  }
  context.check({"every step advances, and no vertex flies farther than a pull reaches (in sizes of the body)",
                 "no divergence", farthest, all_finite && farthest < 3});
}

}  // namespace

Experiment pulling() {
  return {"quasi-newton/pulling",
          "Ten minutes of random pulling at a body, by grabs of its surface",
          {meshes_option("hippo.mesh"),
           {"laws", "linear-corotated,neo-hookean", "neo-hookean", "to pull at"},
           {"solver", "quasi-newton", "quasi-newton", "any solver of the catalogue that minimises"},
           {"seconds", "600", "30", "simulated"}},
          run_pulling};
}

}  // namespace pliant::experiments
