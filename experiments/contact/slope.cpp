// A block on a slope, one percent below and above the angle of friction: it stays, sliding slower than eps_v, or
// accelerates as g (sin a - mu cos a).

#include <fmt/format.h>

#include <cmath>

#include "experiments/contact/contact.hpp"
#include "experiments/pitfalls/pitfalls.hpp"

namespace pliant::experiments {

namespace {

constexpr double kG = 9.81;

/// The slope is level and gravity leans.
std::shared_ptr<const Model> slope_model(double mu, double angle, double eps_v, int cells) {
  ModelBuilder builder;
  builder.set_gravity(kG * Vec3(std::sin(angle), -std::cos(angle), 0));
  builder.add_body(block({.size = {0.2, 0.1, 0.2},
                          .at = {0, 0.0508, 0},
                          .cells = {2 * cells, cells, 2 * cells},
                          .young = 1e7,
                          .poisson = 0.3}));
  Collider plane;
  plane.name = "slope";
  plane.shape = PlaneShape{};
  builder.add_collider(plane);
  builder.set_contact({.dhat = 1e-3, .friction = mu, .eps_v = eps_v});
  return builder.build();
}

double speed_along(const Model& model, const State& state) {
  double momentum = 0;
  for (Index i = 0; i < model.nodes(); ++i) momentum += model.mass().lumped()[i] * node(state.v, i).x();
  return momentum / model.mass().lumped().sum();
}

void run_slope(Context& context) {
  const double eps_v = 1e-3, h = context.number("dt"), seconds = context.number("duration");
  double done = 0;
  const std::vector<double> coefficients = context.numbers("mu");
  for (double mu : coefficients)
    for (double factor : {0.99, 1.01}) {
      const double angle = factor * std::atan(mu);
      const auto model = slope_model(mu, angle, eps_v, static_cast<int>(context.number("cells")));
      const auto run_for = [&](double time) {
        Simulation simulation{model, "pod-newton", {{"tolerance", 1e-4}}, h, static_cast<int>(std::lround(time / h))};
        return std::pair(simulation, simulate(
                                         simulation, [](double) {}, [&] { return context.stopped(); }));
      };
      const auto [early_run, early] = run_for(0.5 * seconds);
      const auto [simulation, late] = run_for(seconds);
      context.progress(++done / (2.0 * static_cast<double>(coefficients.size())), fmt::format("mu {}", mu));
      if (context.stopped()) return;
      const double speed = speed_along(*model, late.last);
      const double acceleration = (speed - speed_along(*model, early.last)) / (0.5 * seconds);
      const double theory = factor < 1 ? 0 : kG * (std::sin(angle) - mu * std::cos(angle));
      Json row = {{"mu", mu},
                  {"angle_over_atan_mu", factor},
                  {"speed", speed},
                  {"acceleration", acceleration},
                  {"theory", theory}};
      row.update(totals_row(simulation, late, 1e-4));
      context.row(row);
      if (factor < 1)
        context.check({fmt::format("mu = {}: below the angle the block slides slower than eps_v = 1e-3 m/s", mu), eps_v,
                       speed, speed < eps_v});
      else
        context.check({fmt::format("mu = {}: above it, it accelerates as theory says within 3%", mu), theory,
                       acceleration, std::abs(acceleration - theory) <= 0.03 * theory});
    }
  check_apart(context);
}

}  // namespace

Experiment contact_slope() {
  return {"contact/slope",
          "A block on a slope one percent below and above the angle of friction",
          {{"mu", "0.1,0.3,0.5,1.0", "0.5", "coefficients of friction"},
           {"cells", "3", "1", "cells over the block's height"},
           {"dt", "1/200", "1/200", "time step, s"},
           {"duration", "2", "1.5", "simulated seconds"}},
          run_slope};
}

}  // namespace pliant::experiments
