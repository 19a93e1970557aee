#pragma once

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include "experiments/experiment.hpp"
#include "pliant/solvers/catalogue.hpp"

namespace pliant::experiments {

/// A solver with its settings, as a row names it.
struct Method {
  std::string label, solver;
  ParameterMap parameters = {};
};

/// What the steps of one method took, without the first, which factorises everything in every method.
struct Measured {
  int steps = 0;
  std::string failure;  ///< outcome of the step that failed; empty: all went through
  double least_ms = 1e300, most_ms = 0, total_ms = 0;
  double total_cpu_ms = 0;       ///< processor time of all threads: what other programs on the machine do not change
  double linear_iterations = 0;  ///< sum
  std::map<std::string, double> figures;  ///< sums, by the names of StepReport::figures
  int over_budget = 0;                    ///< steps whose refactorisation took more than 1.1 of its budget
  State state;                            ///< at the end

  double average_ms() const { return steps > 0 ? total_ms / steps : 0; }
  double cpu_ms() const { return steps > 0 ? total_cpu_ms / steps : 0; }
  /// Mean over the steps.
  double mean(const std::string& name) const;
  double mean_ms(const std::string& stage) const { return 1e3 * mean("seconds_" + stage); }
};

/// Where stages are timed by the clock, what a claim says of them needs a core that other programs leave alone. By
/// processor time, as with --threads 1, it does not.
Decision& needs_a_core(Decision& decision, const Measured& measured);
/// What stages were timed by, for the reason of a verdict.
std::string timed_by();

/// One method at work, step by step, so that several can be run side by side.
class MethodRun {
 public:
  MethodRun(std::shared_ptr<const Model> model, const Method& method, double h);
  /// False when the step failed; the state is then where it was.
  bool step();
  const State& state() const { return measured_.state; }
  const Measured& measured() const { return measured_; }
  const StepReport& last() const { return last_; }
  const Stepper& stepper() const { return *stepper_; }

 private:
  std::shared_ptr<const Model> model_;
  std::unique_ptr<Stepper> stepper_;
  double h_;
  Measured measured_;
  StepReport last_;
};

/// Runs a method for some steps; `each` is called after every step.
Measured simulate(
    Context& context, std::shared_ptr<const Model> model, const Method& method, double h, int steps,
    double progress_begin, double progress_end,
    const std::function<void(const MethodRun&)>& each = [](const MethodRun&) {});

/// Every frame of a run, for comparisons with a reference.
struct Frames {
  Measured measured;
  std::vector<VecX> x;            ///< after each frame
  std::vector<double> cpu_ms;     ///< of each frame but the first
  std::vector<double> refreshed;  ///< share of the elements, of the last step of each frame but the first
  bool completed = false;
  double deviation = 0;  ///< largest distance of a node from the reference at any frame, over the diameter
};
/// Runs a method for all frames. With a reference, ends as soon as the deviation exceeds `most`. `each` is called
/// after every frame, which may be of several steps of h.
Frames record(
    Context& context, std::shared_ptr<const Model> model, const Method& method, double h, int frames,
    const Frames* reference = nullptr, double most = 1e300,
    const std::function<void(const MethodRun&)>& each = [](const MethodRun&) {}, int steps_a_frame = 1);

/// The paper's own scheme: solved for the velocity, errors of elements in N s.
Method paper_wc(double tau);
/// Conjugate gradients with Jacobi's preconditioner.
Method paper_cg(double tolerance, bool absolute = false);

/// The run with the loosest tolerance of a ladder of three a decade that looks like the reference: no node is farther
/// from it than 1% of the diameter at any frame. Not found: completed is false.
struct SameLook {
  double tolerance = std::numeric_limits<double>::quiet_NaN();
  Frames frames;
};
SameLook loosest_of_same_look(Context& context, const std::shared_ptr<const Model>& model,
                              const std::function<Method(double)>& method, double loosest, double tightest, double h,
                              const Frames& reference);

/// The diagonal of the box around all bodies at rest, m.
double diameter(const Model& model);
/// How often nodes leave the half-space y < 0 again after having been in it, all of them.
int bounces(const Frames& frames);
/// The value below which a share of them lies.
double percentile(std::vector<double> values, double share);

/// Columns every row has: method, milliseconds, shares refreshed, iterations.
Json measured_row(const Measured& measured);
/// The rows of Table II in milliseconds.
Json stage_columns(const Measured& measured);

}  // namespace pliant::experiments
