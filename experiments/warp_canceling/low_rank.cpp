// Section 5.2 of warp-canceling: refreshing elements by updates and downdates of low rank (CHOLMOD, twelve a
// tetrahedron) against recomputing their supernodes and ancestors. Where CHOLMOD is not built in, our side alone.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "experiments/measure.hpp"
#include "experiments/random.hpp"
#include "experiments/warp_canceling/runs.hpp"
#include "experiments/warp_canceling/scenes.hpp"
#include "experiments/warp_canceling/warp_canceling.hpp"
#include "pliant/linalg/backends/low_rank.hpp"
#include "pliant/math/decompositions.hpp"
#include "pliant/solvers/warp_canceling/warp_canceling_stepper.hpp"

namespace pliant::experiments {

namespace {

using Matrix12 = Eigen::Matrix<double, 12, 12>;

double now() { return double(std::clock()) / CLOCKS_PER_SEC; }

/// K = G G^T column by column, six columns: a tetrahedron has six rigid motions.
void append_columns(const Matrix12& K, const Index* nodes, SparseColumns& columns) {
  const SymmetricEigen<12> eigen(K);
  for (int c = 6; c < 12; ++c) {
    const Eigen::Matrix<double, 12, 1> g = std::sqrt(std::max(0.0, eigen.values[c])) * eigen.vectors.col(c);
    for (int a = 0; a < 4; ++a)
      for (int i = 0; i < 3; ++i) {
        columns.rows.push_back(3 * nodes[a] + i);
        columns.values.push_back(g[3 * a + i]);
      }
    columns.start.push_back(static_cast<int>(columns.rows.size()));
  }
}

Matrix12 stiffness(const CorotatedElements& elements, Index slot, double scale, const Mat3& R) {
  Matrix12 K;
  const ElementGeometry& geometry = elements.geometry(slot / kBatch);
  const int lane = slot % kBatch;
  const double mu = elements.lame(slot / kBatch)[0][lane], lambda = elements.lame(slot / kBatch)[1][lane];
  Eigen::Matrix<double, 3, 4> b;
  for (int a = 1; a < 4; ++a)
    for (int j = 0; j < 3; ++j) b(j, a) = geometry[3 * j + a - 1][lane];
  b.col(0) = -(b.col(1) + b.col(2) + b.col(3));
  b = R * b;
  for (int p = 0; p < 4; ++p)
    for (int q = 0; q < 4; ++q)
      K.block<3, 3>(3 * p, 3 * q) = scale * geometry[9][lane] *
                                    (lambda * b.col(p) * b.col(q).transpose() + mu * b.col(q) * b.col(p).transpose() +
                                     mu * b.col(p).dot(b.col(q)) * Mat3::Identity());
  return K;
}

/// How much of the matrix a step changes, at the loosest threshold that looks like full Cholesky.
void decide_rank(Context& context) {
  Decision decision("warp-canceling/section-5.2/rank-above-1000");
  for (int across : context.integers("dropped")) {
    const auto model = sculpture(across, 5e6);
    const Frames full =
        record(context, model, {"full", "corotational"}, 0.01, static_cast<int>(context.number("steps")));
    const SameLook wc = loosest_of_same_look(context, model, paper_wc, 0.5, 1e-6, 0.01, full);
    const double tets = double(model->bodies()[0].mesh->tets().size());
    std::vector<double> ranks;
    for (double share : wc.frames.refreshed)
      if (share > 0) ranks.push_back(12 * std::round(share * tets));
    const std::string which = fmt::format("{:.0f} tets: ", tets);
    context.row({{"dropped_tets", tets},
                 {"tau", wc.tolerance},
                 {"frames_with_updates", ranks.size()},
                 {"median_rank", percentile(ranks, 0.5)}});
    decision.needs(full.completed && wc.frames.completed, which + "some tau has the same look")
        .needs(ranks.size() >= 50, which + fmt::format("50 frames with a refresh ({} there were)", ranks.size()))
        .at_least(which + "median rank of the changes", percentile(ranks, 0.5), 1000);
  }
  context.decide(decision);
}

/// A sculpture at rest with its matrix and factor, some elements of which turn as in a frame of its fall.
class Refreshing {
 public:
  explicit Refreshing(std::shared_ptr<const Model> model) : model_(std::move(model)) {
    factor_.analyze(model_->pattern(), 3);
    factor_.keep_updates(true);
    partition_ = partition_of(factor_, *model_);
    elements_.emplace(*model_, partition_.of_element);
    matrix_.emplace(*model_, *elements_, partition_);
    problem_.begin(*model_, model_->rest_state(), 0.01, {});
    matrix_->set_boundary(problem_);
    identity_.assign(at(model_->nodes()), Mat3::Identity());
    all_.assign(at(partition_.count()), 1);
    Random random(5);
    b_.resize(3 * Eigen::Index(model_->nodes()));
    for (double& v : b_) v = random.symmetric();
  }

  struct Times {
    Index elements = 0;
    double full = 0, ours = 0, ours_error = 0;
    std::optional<LowRankTimes> theirs;
    double their_error = 0;
  };
  /// Marks the supernodes of these elements with all above them, turns their elements from rest to how they are in x,
  /// and brings the factor up to date in three ways. CHOLMOD is given the elements of `chosen`, or all that were
  /// marked.
  Times refresh(const std::vector<Index>& chosen, bool only_chosen, const VecX& x) {
    Times times;
    elements_->deform(model_->rest());
    matrix_->refresh(all_, all_, identity_);
    double begin = now();
    factor_.factor(matrix_->matrix());
    times.full = now() - begin;
    std::vector<std::uint8_t> marked(all_.size(), 0), wanted(at(elements_->elements()), 0);
    for (Index e : chosen) {
      wanted[at(e)] = 1;
      for (Index up = partition_.of_element[at(e)]; up >= 0 && !marked[at(up)]; up = partition_.parent[at(up)])
        marked[at(up)] = 1;
    }
    const BlockMatrix before = matrix_->matrix();
    elements_->deform(x);
    std::vector<Index> dirty;
    for (std::size_t s = 0; s < marked.size(); ++s)
      if (marked[s]) dirty.push_back(partition_.some_node[s]);
    begin = now();
    matrix_->refresh(marked, marked, identity_);
    factor_.refactor(matrix_->matrix(), dirty);
    times.ours = now() - begin;
    VecX mine = b_;
    factor_.solve(mine);
    times.ours_error = error(matrix_->matrix(), mine);

    SparseColumns up, down;
    BlockMatrix changed = before;
    const auto of_slot = element_of_slots();
    for (Index s = 0; s < partition_.count(); ++s)
      for (Index slot = matrix_->slots(s).begin; marked[at(s)] && slot < matrix_->slots(s).end; ++slot) {
        const Index element = of_slot[at(slot)];
        if (element < 0 || (only_chosen && !wanted[at(element)])) continue;
        ++times.elements;
        Mat3 R;
        for (int c = 0; c < 9; ++c) R.data()[c] = elements_->rotations(slot / kBatch)[c][slot % kBatch];
        const Matrix12 fresh = stiffness(*elements_, slot, matrix_->scale()[0], R),
                       stale = stiffness(*elements_, slot, matrix_->scale()[0], Mat3::Identity());
        append_columns(fresh, elements_->nodes(slot), up);
        append_columns(stale, elements_->nodes(slot), down);
        for (int p = 0; p < 4; ++p)
          for (int q = 0; q < 4; ++q)
            if (const Index i = elements_->nodes(slot)[p], j = elements_->nodes(slot)[q]; i <= j)
              Eigen::Map<Mat3>(changed.block(changed.pattern().find(i, j))) +=
                  (fresh - stale).block<3, 3>(3 * p, 3 * q);
      }
    times.theirs = cholmod_low_rank(before, up, down, b_);
    if (times.theirs) times.their_error = error(changed, times.theirs->solution);
    return times;
  }

  /// The time of a spring more between two nodes, over a factorisation from scratch, both CHOLMOD's: the median of ten.
  double spring(LowRankOrdering ordering) {
    elements_->deform(model_->rest());
    matrix_->refresh(all_, all_, identity_);
    std::vector<double> shares;
    const auto& tets = model_->bodies()[0].mesh->tets();
    for (std::size_t k = 0; k < 10; ++k) {
      const Tet& t = tets[k * tets.size() / 10];
      const Vec3 along = (node(model_->rest(), t[1]) - node(model_->rest(), t[0])).normalized();
      SparseColumns up;
      for (int end : {0, 1})
        for (int i = 0; i < 3; ++i) {
          up.rows.push_back(3 * t[at(end)] + i);
          up.values.push_back((end == 0 ? 1 : -1) * along[i]);
        }
      up.start.push_back(6);
      const auto times = cholmod_low_rank(matrix_->matrix(), up, {}, b_, ordering);
      if (times) shares.push_back(times->modification / times->factorisation);
    }
    return median(shares);
  }

  const Model& model() const { return *model_; }

 private:
  /// Of a solution beside that of a fresh factor, relative.
  double error(const BlockMatrix& A, const VecX& x) const {
    SparseCholesky fresh;
    fresh.analyze(model_->pattern(), 3);
    VecX exact = b_;
    if (fresh.factor(A) != FactorStatus::ok) return std::numeric_limits<double>::quiet_NaN();
    fresh.solve(exact);
    return (x - exact).norm() / exact.norm();
  }
  /// The element in each slot, -1 where it only fills up a batch.
  std::vector<Index> element_of_slots() const {
    std::vector<Index> elements(at(elements_->slots()), -1);
    for (Index e = 0; e < elements_->elements(); ++e) elements[at(elements_->slot_of_element()[at(e)])] = e;
    return elements;
  }

  std::shared_ptr<const Model> model_;
  SparseCholesky factor_;
  SupernodePartition partition_;
  std::optional<CorotatedElements> elements_;
  std::optional<WarpedMatrix> matrix_;
  StepProblem problem_;
  std::vector<Mat3> identity_;
  std::vector<std::uint8_t> all_;
  VecX b_;
};

/// Elements that a frame at some threshold refreshes, as near to a share of them as any does, with the frame's state.
struct RefreshedFrame {
  std::vector<Index> elements;
  VecX x;
  double share = 0;
};
RefreshedFrame frame_of_share(Context& context, const std::shared_ptr<const Model>& model, double wanted) {
  RefreshedFrame best;
  for (double tau : {0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002}) {
    if (std::abs(best.share - wanted) <= 0.02 || context.stopped()) break;
    record(context, model, paper_wc(tau), 0.01, 60, nullptr, 1e300, [&](const MethodRun& run) {
      const auto& stepper = dynamic_cast<const WarpCancelingStepper&>(run.stepper());
      std::vector<Index> elements;
      const auto& of = stepper.partition().of_element;
      for (std::size_t e = 0; e < of.size(); ++e)
        if (stepper.refreshed()[at(of[e])]) elements.push_back(static_cast<Index>(e));
      const double share = double(elements.size()) / double(of.size());
      if (std::abs(share - wanted) < std::abs(best.share - wanted)) best = {std::move(elements), run.state().x, share};
    });
  }
  return best;
}

void decide_cholmod(Context& context) {
  const bool quick = context.quick();
  const auto model = sculpture(static_cast<Index>(context.number("across")), 5e7);
  Refreshing refreshing(model);
  Decision many("warp-canceling/section-5.2/cholmod-44-percent"), few("warp-canceling/section-5.2/cholmod-34-elements"),
      one("warp-canceling/section-5.2/cholmod-good-at-low-rank");
  const auto report = [&](const char* what, const Refreshing::Times& t) {
    context.row({{"turned", what},
                 {"elements", t.elements},
                 {"rank", 12 * t.elements},
                 {"ours_ms", 1e3 * t.ours},
                 {"full_ms", 1e3 * t.full},
                 {"cholmod_ms", t.theirs ? Json(1e3 * t.theirs->modification) : Json(nullptr)},
                 {"cholmod_full_ms", t.theirs ? Json(1e3 * t.theirs->factorisation) : Json(nullptr)},
                 {"ours_error", t.ours_error},
                 {"cholmod_error", t.theirs ? Json(t.their_error) : Json(nullptr)}});
  };
  const RefreshedFrame frame = frame_of_share(context, model, 0.44);
  const char* const missing = "CHOLMOD is not part of this build (cmake -DPLIANT_CHOLMOD=ON)";
  // Half of the elements by CHOLMOD take the longer part of an hour: last.
  const auto refresh_many = [&] {
    const Refreshing::Times t = refreshing.refresh(frame.elements, false, frame.x);
    report("44 percent", t);
    many.needs(std::abs(frame.share - 0.44) <= 0.02, fmt::format("a frame refreshes 44% ({:.2f})", frame.share))
        .needs(t.theirs.has_value(), missing)
        .at_least("full factorisation over ours", t.full / t.ours, 1.15)
        .at_most("ours: solution beside a fresh factor", t.ours_error, 1e-8)
        .because(fmt::format("{} elements: ours {:.3g} ms, full {:.3g} ms", t.elements, 1e3 * t.ours, 1e3 * t.full));
    if (t.theirs)
      many.at_least("CHOLMOD over ours", t.theirs->modification / t.ours, quick ? 50 : 500)
          .at_most("CHOLMOD: solution beside a fresh factor", t.their_error, 1e-8);
    context.decide(many);
  };
  if (!frame.elements.empty()) {
    // 34 elements spread over that frame, and 34 about a corner.
    std::vector<Index> spread, corner(at(model->bodies()[0].mesh->tets().size()));
    for (std::size_t k = 0; k < 34; ++k) spread.push_back(frame.elements[k * frame.elements.size() / 34]);
    for (std::size_t e = 0; e < corner.size(); ++e) corner[e] = static_cast<Index>(e);
    const auto far = [&](Index e) {
      return node(model->rest(), model->bodies()[0].mesh->tets()[at(e)][0]).dot(Vec3(1, 1.1, 1.2));
    };
    std::sort(corner.begin(), corner.end(), [&](Index a, Index b) { return far(a) < far(b); });
    corner.resize(34);
    for (const auto& [what, chosen] : {std::pair{"34, spread", spread}, {"34, in a corner", corner}}) {
      const Refreshing::Times f = refreshing.refresh(chosen, true, frame.x);
      report(what, f);
      few.needs(f.theirs.has_value(), missing);
      if (f.theirs)
        few.above(fmt::format("{}: CHOLMOD over our factorisation", what), f.theirs->modification / f.full, 1)
            .above(fmt::format("{}: CHOLMOD over its own factorisation", what),
                   f.theirs->modification / f.theirs->factorisation, 1)
            .at_most(fmt::format("{}: CHOLMOD: solution beside a fresh factor", what), f.their_error, 1e-8);
      few.below(fmt::format("{}: ours over full", what), f.ours / f.full, 1)
          .because(fmt::format("{}: ours {:.3g} ms, full {:.3g}, CHOLMOD {:.3g} of its {:.3g}", what, 1e3 * f.ours,
                               1e3 * f.full, f.theirs ? 1e3 * f.theirs->modification : 0,
                               f.theirs ? 1e3 * f.theirs->factorisation : 0));
    }
  }
  for (const auto& [name, ordering] : {std::pair{"nested dissection", LowRankOrdering::nested_dissection},
                                       {"minimum degree", LowRankOrdering::minimum_degree}}) {
    const double share = refreshing.spring(ordering);
    one.needs(std::isfinite(share), missing)
        .at_most(fmt::format("{}: one spring over a factorisation", name), share, quick ? 0.3 : 0.1);
  }
  context.decide(few);
  context.decide(one);
  if (!frame.elements.empty() && context.wants({"warp-canceling/section-5.2/cholmod-44-percent"})) refresh_many();
}

}  // namespace

Experiment low_rank() {
  return {"warp-canceling/low-rank",
          "Refreshing elements by low-rank modifications (CHOLMOD) against recomputing supernodes (section 5.2)",
          {{"across", "5", "2", "cells across a strut of the sculpture"},
           {"dropped", "2,5", "2", "cells across a strut of the dropped sculpture whose ranks are counted"},
           {"steps", "300", "300", "its frames"}},
          [](Context& context) {
            if (context.wants({"warp-canceling/section-5.2/rank-above-1000"})) decide_rank(context);
            if (!context.stopped()) decide_cholmod(context);
          }};
}

}  // namespace pliant::experiments
