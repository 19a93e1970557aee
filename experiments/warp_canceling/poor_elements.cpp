// What conditioning does to direct and iterative solutions (section 5.1 of warp-canceling): poor elements, graded
// meshes, materials of very different stiffness.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/measure.hpp"
#include "experiments/meshes.hpp"
#include "experiments/random.hpp"
#include "experiments/warp_canceling/runs.hpp"
#include "experiments/warp_canceling/scenes.hpp"
#include "experiments/warp_canceling/warp_canceling.hpp"
#include "pliant/linalg/pcg.hpp"
#include "pliant/solvers/warp_canceling/warped_matrix.hpp"

namespace pliant::experiments {

namespace {

constexpr double kPoorStep = 0.01;
constexpr int kRounds = 20;

/// The matrix of a step from rest, with its factor and conjugate gradients for it.
class RestSystem {
 public:
  explicit RestSystem(std::shared_ptr<const Model> model) : model_(std::move(model)) {
    factor_.analyze(model_->pattern(), 3);
    const SupernodePartition partition = partition_of(factor_, *model_);
    CorotatedElements elements(*model_, partition.of_element);
    elements.deform(model_->rest());
    WarpedMatrix matrix(*model_, elements, partition);
    StepProblem problem;
    problem.begin(*model_, model_->rest_state(), kPoorStep, {});
    matrix.set_boundary(problem);
    const std::vector<Mat3> identity(at(model_->nodes()), Mat3::Identity());
    const std::vector<std::uint8_t> all(at(partition.count()), 1);
    matrix.refresh(all, all, identity);
    A_ = matrix.matrix();
    Random random(7);
    b_.resize(3 * Eigen::Index(model_->nodes()));
    for (double& v : b_) v = random.symmetric();
    for (Index i : problem.fixed) b_[i] = 0;
  }

  /// Processor time of factorisation and solution, s; NaN where there is no factor.
  double direct() {
    const ProcessorTime time;
    if (factor_.factor(A_) != FactorStatus::ok) return std::numeric_limits<double>::quiet_NaN();
    VecX x = b_;
    factor_.solve(x);
    return time.seconds();
  }
  /// Another matrix of the same pattern takes its place, as well-conditioned as can be: a Laplacian plus the identity.
  void make_good() {
    const BlockPattern& pattern = *model_->pattern();
    A_.set_zero();
    for (Index row = 0; row < pattern.rows(); ++row)
      for (std::int64_t k = pattern.row_start()[at(row)]; k < pattern.row_start()[at(row) + 1]; ++k) {
        const Index column = pattern.columns()[at(k)];
        const auto block = [&](std::int64_t place) { return Eigen::Map<Mat3>(A_.block(place)); };
        if (column == row) {
          block(k) += Mat3::Identity();
          continue;
        }
        block(k) = -Mat3::Identity();
        block(pattern.diagonal(row)) += Mat3::Identity();
        block(pattern.diagonal(column)) += Mat3::Identity();
      }
  }
  double flops() const { return factor_.statistics().flops; }

  /// Iterations with Jacobi's preconditioner to a relative residual of 1e-8.
  double iterations() const {
    BlockProduct<double> product(model_->pattern(), 3);
    product.set(A_);
    const auto jacobi = make_preconditioner<double>(PreconditionerKind::jacobi);
    jacobi->set(product);
    VecX x = VecX::Zero(b_.size());
    const PcgReport report = Pcg<double>().solve(product, b_, x, *jacobi, {1e-8, 200000});
    return report.outcome == PcgOutcome::converged ? report.iterations : std::numeric_limits<double>::quiet_NaN();
  }

 private:
  std::shared_ptr<const Model> model_;
  SparseCholesky factor_;
  BlockMatrix A_;
  VecX b_;
};

/// Medians of both, which take turns.
std::pair<double, double> direct_times(RestSystem& one, RestSystem& other) {
  const OneThread one_thread;
  std::vector<double> first, second;
  for (int k = 0; k <= kRounds; ++k) {
    const double a = one.direct(), b = other.direct();
    if (k > 0) first.push_back(a), second.push_back(b);  // the first brings in memory
  }
  return {median(first), median(second)};
}

}  // namespace

void decide_conditioning(Context& context) {
  struct Pair {
    std::string name;
    std::shared_ptr<const Model> good, bad;
  };
  const auto fine = static_cast<Index>(context.number("spider"));
  const auto cells = static_cast<Index>(context.number("sheet"));
  Decision decision("warp-canceling/section-5.1/conditioning-does-not-matter");
  for (const Pair& pair : {Pair{"spider 300:1", spider(fine, 1).model, spider(fine, 300).model},
                           Pair{"sheet of 0.1 mm", draped_sheet(cells, 1e-3), draped_sheet(cells, 1e-4)}}) {
    RestSystem good(pair.good), bad(pair.bad);
    const auto [good_time, bad_time] = direct_times(good, bad);
    const double good_iterations = good.iterations(), bad_iterations = bad.iterations();
    context.row({{"system", pair.name},
                 {"nodes", pair.bad->nodes()},
                 {"direct_ms", 1e3 * bad_time},
                 {"direct_ms_of_the_better", 1e3 * good_time},
                 {"cg_iterations", bad_iterations},
                 {"cg_iterations_of_the_better", good_iterations}});
    decision
        .at_most(pair.name + ": change of the time of factorisation and solution", std::abs(bad_time / good_time - 1),
                 0.05)
        .at_least(pair.name + ": iterations over those of the better", bad_iterations / good_iterations, 2)
        .because(fmt::format("{}: {:.2f} and {:.2f} ms, {:.0f} and {:.0f} iterations", pair.name, 1e3 * good_time,
                             1e3 * bad_time, good_iterations, bad_iterations));
  }
  context.decide(decision);
}

void decide_poor_elements(Context& context) {
  const std::string id = "warp-canceling/section-5.1/poor-elements";
  if (!has_meshes(context, {id})) return;
  const auto cells = static_cast<Index>(context.number("poor_cells"));
  const int steps = static_cast<int>(context.number("poor_frames"));
  struct Dropped {
    std::string name;
    std::shared_ptr<const Model> model, well_shaped;
  };
  const MeshData hippo = *find_mesh(context, "hippo");
  // A box with about as many nodes as the hippo.
  const auto as_many = static_cast<Index>(std::lround(std::cbrt(double(TetMesh(hippo).vertices().size())) - 1));
  const auto uniform = dropped_box(cells, BoxKind::uniform);
  const std::vector<Dropped> dropped = {{"hippo", dropped_figure(hippo, 5e6), dropped_box(as_many, BoxKind::uniform)},
                                        {"graded box", dropped_box(cells, BoxKind::graded), uniform},
                                        {"random stiffness", dropped_box(cells, BoxKind::random_stiffness), uniform}};
  const auto cg_iterations = [&](const std::shared_ptr<const Model>& model, const Frames& full) {
    const SameLook cg = loosest_of_same_look(
        context, model, [](double t) { return paper_cg(t); }, 0.1, 1e-9, kPoorStep, full);
    return cg.frames.completed ? cg.frames.measured.linear_iterations / std::max(1, cg.frames.measured.steps)
                               : std::numeric_limits<double>::quiet_NaN();
  };
  std::map<const Model*, double> of_the_good;
  std::size_t looked_at = 0;
  Decision decision(id);
  for (const Dropped& d : dropped) {
    context.progress(0.8, d.name);
    if (!of_the_good.contains(d.well_shaped.get()))
      of_the_good[d.well_shaped.get()] =
          cg_iterations(d.well_shaped, record(context, d.well_shaped, {"full", "corotational"}, kPoorStep, steps));
    const Frames full = record(context, d.model, {"full", "corotational"}, kPoorStep, steps);
    const Frames wc = record(context, d.model, paper_wc(5e-3), kPoorStep, steps, &full);
    const double iterations = cg_iterations(d.model, full), good = of_the_good[d.well_shaped.get()];
    RestSystem poor(d.model), well_shaped(d.well_shaped);
    const auto [poor_time, good_time] = direct_times(poor, well_shaped);
    RestSystem same_pattern(d.model);
    same_pattern.make_good();
    const auto [again, same_time] = direct_times(poor, same_pattern);
    const double share = poor_time / poor.flops() / (good_time / well_shaped.flops());
    Json row = {{"dropped", d.name},
                {"nodes", d.model->nodes()},
                {"deviation", wc.deviation},
                {"time_a_flop_over_the_box", share},
                {"iterations_of_cg", iterations},
                {"iterations_of_cg_on_the_box", good}};
    row.update(measured_row(wc.measured));
    context.row(row);
    decision.needs(full.completed, d.name + ": full Cholesky completes")
        .part(d.name + ": frames of WC", double(wc.x.size()), "all of them", wc.completed)
        .at_most(d.name + ": deviation from full Cholesky, of the diameter", std::min(wc.deviation, 1e9), 0.01)
        .between(d.name + ": time for its share of the factor over that of a well-shaped box", share, 0.9, 1.1)
        .at_least(d.name + ": CG's iterations at equal look over those on a uniform box", iterations / good, 3)
        .note(d.name + ": time over that of a well-conditioned matrix of the same pattern", again / same_time)
        .because(fmt::format("{}: deviation {:.2g}, {:.0f} iterations of CG beside {:.0f}; factor and solution take "
                             "{:.2f} of the time for a well-conditioned matrix of the same pattern",
                             d.name, std::min(wc.deviation, 1e9), iterations, good, again / same_time));
    ++looked_at;
    if (context.stopped() || decision.verdict() == Verdict::fails) break;  // one body decides
  }
  context.decide(decision.awaits(looked_at == dropped.size(), "the other bodies"));
}

}  // namespace pliant::experiments
