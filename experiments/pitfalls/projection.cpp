// What projection does to Hessians (pitfalls, section 4, figs. 3 and 4), on the swinging beam: how much of the spectrum
// it throws away, how far analytic and numerical projection are from the exact matrices of elements, what that costs in
// iterations at element orders 1 to 3, and what either costs in assembly. Quadrature is the engine's: 1, 4 and 24
// points at orders 1, 2 and 3 unless a row says otherwise.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/measure.hpp"
#include "experiments/pitfalls/statistics.hpp"
#include "experiments/pitfalls/trial.hpp"
#include "pliant/energies/assembler.hpp"
#include "pliant/math/decompositions.hpp"

namespace pliant::experiments {

namespace {

using Projected = Eigen::MatrixXd;

/// The whole matrix of element e, unpacked.
Projected element_matrix(const Energy& energy, const VecX& x, Index e, Projection projection) {
  const int n = energy.stencils().size;
  std::vector<double> blocks(static_cast<std::size_t>(local_blocks(n)) * 9);
  energy.hessians(Pose(x), {e, e + 1}, projection, blocks.data());
  Projected H(3 * n, 3 * n);
  for (int b = 0; b < n; ++b)
    for (int a = 0; a <= b; ++a) {
      const Eigen::Map<const Mat3> block(blocks.data() + 9 * (b * (b + 1) / 2 + a));
      H.block<3, 3>(3 * a, 3 * b) = block;
      H.block<3, 3>(3 * b, 3 * a) = block.transpose();
    }
  return H;
}

/// Share of the spectrum of all d2Psi/dF2 that projection throws away, and the element that loses most. Traces are
/// enough: the sum of negative eigenvalues is what projection adds to the trace.
struct Discarded {
  double share = 0;
  Index worst = -1;  ///< -1: no element loses anything
};
Discarded discarded_spectrum(const Body& body, const VecX& x) {
  std::vector<Mat3> F(static_cast<std::size_t>(body.elements->element_count()));
  body.elastic->deformation_gradients(x, {0, body.elements->element_count()}, F.data());
  const Material material{body.law, body.lame.front()};
  double negative = 0, all = 0, most = 0;
  Discarded result;
  for (std::size_t e = 0; e < F.size(); ++e) {
    const double exact = material.hessian(F[e]).trace(),
                 projected = material.hessian(F[e], Projection::analytic).trace();
    const double lost = std::max(0.0, projected - exact);
    negative += lost;
    all += projected + lost;
    if (lost / projected > most) most = lost / projected, result.worst = static_cast<Index>(e);
  }
  result.share = negative / all;
  return result;
}

bool is_indefinite(const Projected& H) {
  VecX values(H.rows());
  symmetric_eigen(H.data(), static_cast<int>(H.rows()), values.data());
  return values.minCoeff() < -1e-8 * values.maxCoeff();
}

struct Swing {
  TrialTotals totals;
  std::shared_ptr<const Model> model;
  std::vector<VecX> states;  ///< at the end of every step
  int iterations_of(std::size_t steps) const {
    int sum = 0;
    for (std::size_t s = 0; s < std::min(steps, totals.per_step.size()); ++s) sum += totals.per_step[s];
    return sum;
  }
};

struct OrderKey {
  int order, cells;
  std::string how;  ///< N, analytic, numerical
  double eps_a;
  auto operator<=>(const OrderKey&) const = default;
};

/// Sections 4.1 and 4.2.2 on N's run at order 1.
void study_spectrum(Context& context) {
  const int cells = static_cast<int>(context.number("spectrum_cells"));
  NewtonTrial trial;
  trial.model = swinging_beam_model(cells);
  trial.options = elastic_options("N", 0.01);
  trial.steps = static_cast<int>(context.number("spectrum_steps"));
  const Body& body = trial.model->bodies().front();
  std::vector<double> share, strain, deflection;
  int iterations = 0, indefinite = 0, definite = 0;
  trial.watch = [&](const State& state, const StepReport&) {
    share.push_back(discarded_spectrum(body, state.x).share);
    strain.push_back(strain_energy_at(*trial.model, state.x));
    deflection.push_back(distance(state.x, trial.model->rest()));
  };
  trial.observer = [&](const Direction& direction, const Iterate& from, const VecX&, const LineSearchResult&) {
    ++iterations;
    const Index worst = discarded_spectrum(body, from.x).worst;
    if (worst < 0 || !is_indefinite(element_matrix(*body.elastic, from.x, worst, Projection::none))) return;
    ++indefinite;
    definite += !direction.met_indefinite();
  };
  const TrialTotals totals =
      run_trial(context, trial, {{"order", 1}, {"cells", cells}, {"projection", "none"}}, 0.9, 1);

  Decision grows("pitfalls/section-4.2.2/discarded-spectrum-grows"),
      despite("pitfalls/section-4.1/definite-despite-indefinite-elements");
  needs_completed(grows, {{"N", &totals}});
  needs_completed(despite, {{"N", &totals}});
  if (!share.empty()) {
    const auto largest = std::max_element(deflection.begin(), deflection.end()) - deflection.begin();
    grows.above("share thrown away at the largest deflection", share[static_cast<std::size_t>(largest)], 0);
  }
  grows.at_least("rank correlation with strain energy", spearman(share, strain), 0.8);
  grows.at_least("most over least deformed quarter", upper_over_lower_quarter(share, strain), 2);
  despite.note("iterations", iterations).note("with an indefinite element", indefinite);
  despite.at_least("share of iterations with an indefinite element", double(indefinite) / iterations, 0.5);
  despite.at_least("share of those with a definite matrix", indefinite == 0 ? 0 : double(definite) / indefinite, 0.99);
  context.decide(grows);
  context.decide(despite);
}

/// Fig. 3 and section 4.2.3: N and PN with both projections over element orders, at equal numbers of nodes.
class Orders {
 public:
  explicit Orders(Context& context) : context_(context) {
    for (int order : {1, 2, 3}) cells_[order] = context.integers(fmt::format("cells_P{}", order));
    steps_ = static_cast<int>(context.number("steps"));
    compared_ = static_cast<std::size_t>(context.number("compared_steps"));
  }

  /// From the coarsest resolution of all orders to the finest; what fails at one of them is decided there.
  void run() {
    std::vector<OrderKey> plan;
    for (std::size_t level = 0; level < 3; ++level)
      for (const auto& [order, cells] : cells_) {
        if (level >= cells.size()) continue;
        for (const char* how : {"N", "analytic", "numerical"}) {
          plan.push_back({order, cells[level], how, 0.01});
          if (order == 3 && how[0] != 'N') plan.push_back({order, cells[level], how, 1.0});
        }
      }
    for (std::size_t k = 0; k < plan.size() && !context_.stopped(); ++k) {
      const OrderKey& key = plan[k];
      Swing swing;
      NewtonTrial trial;
      trial.model = swing.model = swinging_beam_model(key.cells, key.order);
      trial.options = elastic_options(key.how == "N" ? "N" : "PN", key.eps_a);
      if (key.how == "numerical") trial.options.projection = Projection::numerical;
      // The second resolution is only there for the claim that compares the first steps.
      trial.steps = key.cells == cells_[key.order].front() ? steps_ : static_cast<int>(compared_);
      if (key.how == "N") trial.watch = [&](const State& state, const StepReport&) { swing.states.push_back(state.x); };
      swing.totals =
          run_trial(context_, trial, {{"order", key.order}, {"cells", key.cells}, {"projection", key.how}},
                    0.1 + 0.7 * double(k) / double(plan.size()), 0.1 + 0.7 * double(k + 1) / double(plan.size()));
      swings_[key] = std::move(swing);
      if (!context_.stopped()) settle();
    }
  }

  void settle() {
    Decision grows("pitfalls/fig-3/ratio-grows-with-order"), cubic("pitfalls/fig-3/cubic-36-percent"),
        worse("pitfalls/fig-3/pn-worse-at-every-order"), pays("pitfalls/section-4.2.3/numerical-sometimes-pays");
    const std::size_t common = std::min({cells_[1].size(), cells_[2].size(), cells_[3].size()});
    for (std::size_t level = 0; level < common; ++level)
      for (int order : {1, 2, 3}) {
        const int m = cells_[order][level];
        if (!has_ratio(order, m)) continue;
        const double q = ratio(order, m, 0.01, compared_);
        const auto compared_with = [&](double least, bool strictly, const std::string& what) {
          strictly ? grows.above(what, q, least) : grows.at_least(what, q, least);
        };
        compared_with(1, false, fmt::format("analytic/numerical at P{}, resolution {}", order, level + 1));
        if (order > 1 && has_ratio(order - 1, cells_[order - 1][level]))
          compared_with(ratio(order - 1, cells_[order - 1][level], 0.01, compared_), true,
                        fmt::format("the same against that at P{}, resolution {}", order - 1, level + 1));
        if (grows.verdict() == Verdict::fails)
          grows.because(fmt::format("P{}, {} nodes: {} iterations with analytic, {} with numerical projection", order,
                                    swing(order, m, "analytic").model->nodes(),
                                    swing(order, m, "analytic").iterations_of(compared_),
                                    swing(order, m, "numerical").iterations_of(compared_)));
      }
    double largest = 0, largest_cubic = 0, least_time = 1e300;
    bool all_there = true;
    for (const auto& [order, cells] : cells_)
      for (std::size_t level = 0; level < cells.size(); ++level) {
        const int m = cells[level];
        for (Decision* d : {&grows, &cubic, &worse, &pays}) compares(*d, order, m);
        const bool has_n = swings_.contains({order, m, "N", 0.01});
        const auto iterations = [&](int cells_across, const std::string& how) {
          return double(swing(order, cells_across, how).iterations_of(compared_));
        };
        for (const char* how : {"analytic", "numerical"}) {
          if (!swings_.contains({order, m, how, 0.01})) continue;
          if (has_n)
            worse.above(fmt::format("PN {}, P{}, {} cells across", how, order, m), iterations(m, how),
                        iterations(m, "N"));
          if (level > 0)
            worse.above(fmt::format("growth of PN {}, P{}, to {} cells across", how, order, m), iterations(m, how),
                        iterations(cells[level - 1], how));
        }
        if (level > 0 && has_n)
          worse.at_most(fmt::format("|N's change|, P{}, to {} cells across", order, m),
                        std::abs(iterations(m, "N") / iterations(cells[level - 1], "N") - 1), 0.15);
        all_there = all_there && has_ratio(order, m);
        if (!has_ratio(order, m)) continue;
        const double q = ratio(order, m, 0.01, static_cast<std::size_t>(steps_));
        largest = std::max(largest, q);
        if (order == 3) largest_cubic = std::max(largest_cubic, q);
        cubic.note(fmt::format("analytic/numerical, P{}, {} cells across", order, m), q);
        const double times = swing(order, m, "numerical").totals.processor_seconds /
                             swing(order, m, "analytic").totals.processor_seconds;
        if (order > 1) {
          least_time = std::min(least_time, times);
          pays.note(fmt::format("time numerical/analytic, P{}, {} cells across", order, m), times);
        }
      }
    if (swings_.contains({3, cells_[3].front(), "numerical", 1.0}))
      cubic.note("at eps_a 1.0", ratio(3, cells_[3].front(), 1.0, static_cast<std::size_t>(steps_)));
    // A ratio above the band, of whatever order, stays above it.
    if (all_there || largest > 1.46) cubic.between("largest ratio", largest, 1.26, 1.46);
    if (all_there) {
      cubic.at_least("of all ratios, the largest at P3", largest_cubic, largest);
      pays.below("least time numerical/analytic at P2 and P3", least_time, 0.98);
    }
    if (cubic.verdict() == Verdict::fails)
      cubic.because(fmt::format("up to {} nodes so far; the paper's finest beam has 58 thousand",
                                swings_.rbegin()->second.model->nodes()));
    if (pays.verdict() == Verdict::fails) pays.because(share_of_assembly());
    for (Decision* d : {&grows, &cubic, &worse, &pays}) context_.settle(*d);
  }

  /// Section 4.2.3: distances to the exact element matrices, over ten states of each order's swing.
  void decide_distances() {
    Decision closer("pitfalls/section-4.2.3/numerical-closer");
    std::vector<double> means;
    for (int order : {1, 2, 3}) {
      const Swing& s = swing(order, cells_[order].front(), "N");
      const Energy& energy = *s.model->bodies().front().elastic;
      int indefinite = 0, nearer = 0;
      double sum = 0;
      for (std::size_t k = 1; k <= 10 && !s.states.empty(); ++k) {
        const VecX& x = s.states[(k * s.states.size() + 9) / 10 - 1];
        for (Index e = 0; e < energy.stencils().count(); ++e) {
          const Projected exact = element_matrix(energy, x, e, Projection::none);
          const double numerical = (element_matrix(energy, x, e, Projection::numerical) - exact).norm();
          if (numerical <= 1e-10 * exact.norm()) continue;
          const double analytic = (element_matrix(energy, x, e, Projection::analytic) - exact).norm();
          ++indefinite;
          nearer += numerical <= analytic * (1 + 1e-9);
          sum += analytic / numerical;
        }
      }
      closer.part(fmt::format("indefinite elements at P{}", order), indefinite, "above 0", indefinite > 0);
      closer.equal(fmt::format("share in which numerical is no farther, P{}", order),
                   indefinite == 0 ? 0 : double(nearer) / indefinite, 1);
      means.push_back(indefinite == 0 ? 0 : sum / indefinite);
      if (means.size() > 1)
        closer.above(fmt::format("mean analytic/numerical distance at P{}", order), means.back(),
                     means[means.size() - 2]);
    }
    closer.note("mean analytic/numerical distance at P1", means.front());
    context_.decide(closer);
  }

 private:
  const Swing& swing(int order, int cells, const std::string& how, double eps_a = 0.01) const {
    return swings_.at({order, cells, how, eps_a});
  }
  double ratio(int order, int cells, double eps_a, std::size_t steps) const {
    return double(swing(order, cells, "analytic", eps_a).iterations_of(steps)) /
           swing(order, cells, "numerical", eps_a).iterations_of(steps);
  }
  bool has_ratio(int order, int cells) const {
    return swings_.contains({order, cells, "analytic", 0.01}) && swings_.contains({order, cells, "numerical", 0.01});
  }
  void compares(Decision& decision, int order, int cells) const {
    for (const char* how : {"N", "analytic", "numerical"}) {
      const auto found = swings_.find({order, cells, how, 0.01});
      const std::string name = fmt::format("{} at P{}, {} cells across", how, order, cells);
      decision.awaits(found != swings_.end(), name);
      if (found != swings_.end()) needs_completed(decision, {{name, &found->second.totals}});
    }
  }
  std::string share_of_assembly() const {
    const Totals &a = swing(3, cells_.at(3).front(), "analytic").totals,
                 &n = swing(3, cells_.at(3).front(), "numerical").totals;
    return fmt::format(
        "at P3 numerical projection takes {} iterations in place of {}, but {:.2g} s of assembly in "
        "place of {:.2g} of {:.2g} s in all",
        n.iterations, a.iterations, n.seconds.assembly, a.seconds.assembly, a.seconds.total);
  }

  Context& context_;
  std::map<int, std::vector<int>> cells_;
  std::map<OrderKey, Swing> swings_;
  int steps_ = 0;
  std::size_t compared_ = 0;
};

/// The displacement of a state of the beam with 2m x m x m cells, at any point: trilinear between corners of cells.
Vec3 displacement(const VecX& x, const VecX& rest, Index m, const Vec3& X) {
  Vec3 sum = Vec3::Zero();
  const Vec3 cell = X * double(m);
  std::array<Index, 3> low{};
  for (int a = 0; a < 3; ++a) low[std::size_t(a)] = std::clamp(Index(cell[a]), Index(0), (a == 0 ? 2 * m : m) - 1);
  for (unsigned corner = 0; corner < 8; ++corner) {
    double weight = 1;
    std::array<Index, 3> at{};
    for (unsigned a = 0; a < 3; ++a) {
      const bool up = (corner >> a) & 1U;
      const double t = cell[a] - double(low[a]);
      weight *= up ? t : 1 - t;
      at[a] = low[a] + (up ? 1 : 0);
    }
    const Index i = at[0] + (2 * m + 1) * (at[1] + (m + 1) * at[2]);
    sum += weight * (Vec3(node(x, i)) - Vec3(node(rest, i)));
  }
  return sum;
}

/// Fig. 4: processor time of one assembly of the elastic Hessian, over states of a coarser beam's swing carried over to
/// each mesh.
void decide_assembly(Context& context) {
  const int source = static_cast<int>(context.number("swing_cells"));
  Swing swing;
  NewtonTrial trial;
  trial.model = swing.model = swinging_beam_model(source);
  trial.options = elastic_options("N", 0.01);
  trial.steps = static_cast<int>(context.number("spectrum_steps"));
  trial.watch = [&](const State& state, const StepReport&) { swing.states.push_back(state.x); };
  swing.totals = run_trial(context, trial, {{"order", 1}, {"cells", source}, {"projection", "none"}}, 0, 0.05);
  Decision linear("pitfalls/fig-4/linear-2.1"), gap("pitfalls/fig-4/gap-slightly-larger-with-order");
  for (Decision* d : {&linear, &gap}) needs_completed(*d, {{"N", &swing.totals}});
  const std::vector<int> cells = context.integers("assembly_cells");
  const auto states = static_cast<std::size_t>(context.number("assembly_states"));
  std::vector<double> ratios;
  for (int order : {1, 2, 3}) {
    const auto model = swinging_beam_model(cells.at(std::size_t(order - 1)), order);
    Assembler assembler(model->nodes(), {model->bodies().front().elastic.get()});
    BlockMatrix A(model->pattern(), 3);
    std::map<Projection, double> seconds;
    for (std::size_t k = 0; k <= states && !swing.states.empty(); ++k) {
      const VecX& from = swing.states[(std::max<std::size_t>(k, 1) * swing.states.size() + states - 1) / states - 1];
      VecX x = model->rest();
      for (Index i = 0; i < model->nodes(); ++i)
        node(x, i) += displacement(from, swing.model->rest(), Index(source), node(model->rest(), i));
      for (Projection projection : {Projection::none, Projection::analytic, Projection::numerical}) {
        A.set_zero();
        const ProcessorTime time(ProcessorTime::Of::program);
        assembler.add_hessian(Pose(x), projection, A);
        if (k > 0)  // the first is warming up
          seconds[projection] += time.seconds();
      }
      context.progress(0.8 + 0.2 * (order - 1 + double(k) / double(states)) / 3, fmt::format("assembly at P{}", order));
    }
    ratios.push_back(seconds[Projection::numerical] / seconds[Projection::analytic]);
    context.row({{"order", order},
                 {"cells", cells.at(std::size_t(order - 1))},
                 {"projection", "assembly alone"},
                 {"vertices", model->nodes()},
                 {"none_s", seconds[Projection::none] / double(states)},
                 {"analytic_s", seconds[Projection::analytic] / double(states)},
                 {"numerical_s", seconds[Projection::numerical] / double(states)}});
    gap.note(fmt::format("numerical/analytic at P{}", order), ratios.back());
    if (order == 1) linear.between("time numerical/analytic at P1", ratios[0], 1.6, 2.7);
    if (order > 1) gap.at_least(fmt::format("ratio at P{}", order), ratios.back(), ratios[ratios.size() - 2]);
    if (order == 3) gap.at_most("ratio at P3 over that at P1", ratios[2] / ratios[0], 1.5);
    for (Decision* d : {&linear, &gap})
      if (d->verdict() == Verdict::fails)
        d->because(fmt::format(
            "at P{} an assembly takes {:.3g} s with analytic and {:.3g} s with numerical projection: the first runs in "
            "vector instructions over many elements at once, the second takes eigenvalues of whole element matrices "
            "one after another",
            order, seconds[Projection::analytic] / double(states), seconds[Projection::numerical] / double(states)));
    if (context.stopped()) return;
    context.settle(linear);
    if (gap.verdict() == Verdict::fails || order == 3) return context.decide(gap);
  }
}

void run_projection(Context& context) {
  decide_assembly(context);
  if (context.stopped()) return;
  Orders orders(context);
  orders.run();
  if (context.stopped()) return;
  orders.decide_distances();
  study_spectrum(context);
}

}  // namespace

Experiment projection() {
  return {"pitfalls/projection",
          "Analytic against numerical projection over element orders: spectra, distance, cost of assembly (figs. 3, 4, "
          "section 4)",
          {{"spectrum_cells", "24", "6", "cells across the beam whose spectra are looked at"},
           {"spectrum_steps", "360", "90", "steps of 1/60 s of that run"},
           {"cells_P1", "6,12,24", "6,8", "cells across at order 1"},
           {"cells_P2", "3,6,12", "3,4", "cells across at order 2: as many nodes"},
           {"cells_P3", "2,4,8", "2", "cells across at order 3"},
           {"steps", "360", "90", "steps at the first resolution"},
           {"compared_steps", "360", "45", "steps compared over the resolutions"},
           {"swing_cells", "6", "6", "cells across the beam from whose swing the states for timing are carried over"},
           {"assembly_cells", "24,12,8", "12,6,4", "cells across at orders 1, 2 and 3 where assembly is timed"},
           {"assembly_states", "6", "6", "states of the swing it is timed in"}},
          run_projection};
}

}  // namespace pliant::experiments
