#pragma once

#include "experiments/conjac/bars.hpp"

namespace pliant::experiments {

/// TWIST (fig. 3): a bar of 10 x 3 x 3 cm held at x-min, whose other end is pressed in by 2 cm, pulled out by 3 cm,
/// moved aside by 4 cm, brought back and turned by 90 degrees, within 0.1 s each, and rests 0.3 s after every move.
struct TwistScene {
  std::array<Index, 3> cells = {20, 6, 6};
  double young = 1e4;
  double speed = 1;  ///< how many times as fast
  int cycles = 1;
  static constexpr double length = 0.1, width = 0.03, cycle = 2.0;  ///< m, m, s
  double duration() const { return cycles * cycle / speed; }

  std::shared_ptr<const Model> model() const;
  /// When moves end, s; the next one begins 0.3 s later, over the speed.
  std::vector<double> stops() const;
};

/// The bar again, without gravity; its end is turned by 90 degrees within 0.05 s.
std::shared_ptr<const Model> turned_bar(const std::array<Index, 3>& cells);

/// The paper's places for dynamic nodes: up to four on the axis at equal intervals, else the corners of count/4 slices.
std::string axis_nodes(const Model& model, int count);
std::string slice_nodes(const Model& model, int count);
inline std::string paper_nodes(const Model& model, int count) {
  return count <= 4 ? axis_nodes(model, count) : slice_nodes(model, count);
}

/// The full motion at times h, 2 h, ...: Newton's method and the midpoint rule with steps of at most 2e-4 s. Empty when
/// it was stopped or failed.
std::vector<State> full_motion(const std::shared_ptr<const Model>& model, State state, double h, int steps,
                               const std::function<bool()>& stop);

/// A run of a solver as published; ends early where a step fails.
struct BarRun {
  std::vector<State> states;  ///< after each step
  int projected = 0;
  bool completed = false;
};
BarRun run_bar(const std::shared_ptr<const Model>& model, const std::string& solver, const ParameterMap& parameters,
               double h, int steps, const std::function<bool()>& stop);

/// While the driven end rests energy must not grow: within every stop it stays below 1.1 times that at the stop, and
/// ends below it.
bool is_stable(const TwistScene& scene, const std::shared_ptr<const Model>& model, const BarRun& run, double h);

/// Angle and spin of a cross-section about the bar's axis, by least squares.
struct Section {
  double angle = 0;    ///< rad
  double kinetic = 0;  ///< of turning as a whole, J
};
Section section(const Model& model, const State& state, double x);

}  // namespace pliant::experiments
