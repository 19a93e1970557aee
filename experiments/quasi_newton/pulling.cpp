// Ten minutes of somebody pulling at a body with a mouse: grabs of random points of its surface, dragged about and let
// go. Nothing may diverge.

#include <algorithm>
#include <cmath>

#include "experiments/quasi_newton/quasi_newton.hpp"
#include "experiments/quasi_newton/scenes.hpp"
#include "experiments/random.hpp"
#include "pliant/sim/grab.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

namespace {

void run_pulling(Context& context) {
  const Table1Scene& scene = table1_scene("hippo");
  const int frames = static_cast<int>(context.number("seconds") / kFrame);
  bool all_finite = true;
  double farthest = 0;
  for (const std::string& law : context.list("laws")) {
    const auto mesh = table1_mesh(scene, context.text("meshes"), context.number("scale"));
    BodyOptions body;
    body.mesh = mesh;
    body.material = {find_law(law), {scene.mu, scene.lambda}};
    ModelBuilder builder;
    builder.set_gravity({0, -9.81, 0});
    builder.add_body(body);
    builder.add_pin({"held", end_of(*mesh, longest_axis(*mesh), false)});
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
          if (const auto grab = grab_along_ray(*model, state.x, -3 * scene.size * d, d, 30)) {
            state.grabs.push_back(*grab);
            drift = 0.7 * scene.size * random.direction();  // m/s
            ++pulls;
          }
        }
      }
      for (Grab& grab : state.grabs) grab.target += kFrame * drift;
      const StepReport report = stepper->step(state, kFrame);
      finite = report.advanced() && state.x.allFinite();
      ms += 1e3 * report.seconds.total;
      most = std::max(most, (state.x - model->rest()).cwiseAbs().maxCoeff() / scene.size);
      if (done % 30 == 0) reach.push_back((state.x - model->rest()).cwiseAbs().maxCoeff() / scene.size);
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
          {{"meshes", "", "", "folder with hippo.mesh; empty: a generated body"},
           {"scale", "0.7", "0.5", "resolution of the generated body"},
           {"laws", "linear-corotated,neo-hookean", "neo-hookean", "to pull at"},
           {"solver", "quasi-newton", "quasi-newton", "any solver of the catalogue that minimises"},
           {"seconds", "600", "30", "simulated"}},
          run_pulling};
}

}  // namespace pliant::experiments
