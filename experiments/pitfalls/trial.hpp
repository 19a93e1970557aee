#pragma once

#include "experiments/pitfalls/pitfalls.hpp"
#include "pliant/solvers/newton/newton_stepper.hpp"

namespace pliant::experiments {

/// One iteration of a trial, as its observer saw it.
struct Iteration {
  int step = 0;             ///< from 0
  double alpha = 0;         ///< 0: no step length was accepted
  double beta = 1;          ///< of Kinetic Newton
  double length = 0;        ///< |dx|_inf of the raw direction, m
  bool projected = false;   ///< the direction came from a projected matrix
  bool indefinite = false;  ///< Cholesky of the exact matrix failed
  bool turned = false;      ///< the direction ascended and was turned round
  int compared = 0;         ///< evaluations of the line search that were judged by gradients
};

/// A run of a Newton-type solver, set as the paper sets it: direct linear solver, steps begin at u^n, robust search.
struct NewtonTrial {
  std::shared_ptr<const Model> model;
  NewtonOptions options;
  double h = 1.0 / 60;
  int steps = 1;
  double perturbation = 0;  ///< random displacement of every coordinate at the start, m
  std::uint64_t seed = 1;   ///< of it
  std::function<void(const State&, const StepReport&)> watch = nullptr;
  /// Called with what options.observer gets.
  std::function<void(const Direction&, const Iterate&, const VecX&, const LineSearchResult&)> observer = nullptr;
};

struct TrialTotals : Totals {
  std::string solver;  ///< N, PN, PDN or KN
  double tolerance = 0;
  std::string line_search;
  std::vector<Iteration> iterations_seen;  ///< also of a step that failed
  double mean_iterations = 0;              ///< with those of runs from perturbed starts, where there are any

  int count(bool Iteration::*what) const {
    int n = 0;
    for (const Iteration& i : iterations_seen) n += i.*what;
    return n;
  }
};

/// Solvers by their abbreviations: N, PN, PDN, KN.
const std::vector<std::string>& four_solvers();
/// Acceleration criterion with the factorised mass (section 8.3).
NewtonOptions elastic_options(const std::string& solver, double eps_a);
/// Step-length criterion on each solver's own raw step (section 10.3).
NewtonOptions contact_options(const std::string& solver, double eps_d);

/// Runs it and adds a row that begins with `first`. Progress counts from `begin` to `end`.
TrialTotals run_trial(Context& context, const NewtonTrial& trial, const Json& first, double begin, double end);

/// Needs all of them to have completed, each with a name.
void needs_completed(Decision& decision, const std::vector<std::pair<std::string, const TrialTotals*>>& trials);

/// The energy stored in all bodies, J.
double strain_energy_at(const Model& model, const VecX& x);
double kinetic_energy_at(const Model& model, const VecX& v);
/// The largest distance of a node between two states, m.
double distance(const VecX& a, const VecX& b);

/// The swinging beam: 2 x 1 x 1 m, 2m x m x m cells of twelve tets, clamped at x = 0 (sections 4.2, 10.2.1).
std::shared_ptr<const Model> swinging_beam_model(int cells, int order = 1, const std::string& law = "neo-hookean");
/// The twisting beam: 2 x 1 x 1 m, both ends driven: twice the length and 2.5 pi of twist in all (section 10.2.2; the
/// paper does not print the motion). With 3 pi the beam buckles at nine tenths of the way: Newton follows the branch
/// that has become a saddle, and no method that needs a minimum completes.
struct TwistOptions {
  int cells = 8;  ///< across
  Imposition imposition = Imposition::penalty;
  double seconds = 3;   ///< that the motion takes
  double sigma = 1e8;   ///< of the penalty, 1/s^2
  double per_node = 0;  ///< N/m: the same penalty for every node in place of sigma M_ii, where not 0
};
std::shared_ptr<const Model> twisting_beam_model(const TwistOptions& options);
/// sigma M_ii, mean over the nodes that penalties drive, N/m.
double mean_penalty(const Model& model);
/// How far at most a driven node is from where it belongs at the state's time, m.
double largest_violation(const Model& model, const State& state);
/// The compressing box (section 10.2.3), pressed flat over `duration` seconds.
std::shared_ptr<const Model> compressing_box_model(int cells, double duration);
/// The spinning steel block in place of a stiff impact (section 7).
std::shared_ptr<const Model> spinning_block_model();

/// The basic impact (section 10.3.1): a cube of 0.4 m hits at 10 m/s a slab of 1 x 0.1 x 1 m whose four narrow sides
/// are held, both of cells as large as a `cells`-th of the cube. Body 0 is the slab, body 1 the cube.
std::shared_ptr<const Model> impact_model(bool stiff, int cells);
/// Cells along the cube's edge; the slab has 2.5 times as many along its sides, a quarter through it.
inline constexpr int kImpactQuick = 4, kImpactFull = 12;
/// Mean velocity of a body, m/s.
Vec3 mean_velocity_of(const Model& model, std::size_t body, const VecX& v);

}  // namespace pliant::experiments
