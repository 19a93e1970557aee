// Partial refactorisation itself (section 4.3 of warp-canceling) and its memory (section 6): exactness, cost over the
// share that changed, separators, and what is kept from step to step.

#include <fmt/format.h>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <cstring>

#include "experiments/measure.hpp"
#include "experiments/random.hpp"
#include "experiments/warp_canceling/runs.hpp"
#include "experiments/warp_canceling/scenes.hpp"
#include "experiments/warp_canceling/warp_canceling.hpp"
#include "pliant/linalg/multifrontal.hpp"
#include "pliant/linalg/symbolic_factor.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/solvers/warp_canceling/warp_canceling_stepper.hpp"

namespace pliant::experiments {

namespace {

std::shared_ptr<const BlockPattern> pattern_of(const MeshData& mesh) {
  std::vector<Index> nodes;
  for (const Tet& t : mesh.tets) nodes.insert(nodes.end(), t.begin(), t.end());
  const BlockPattern::Cliques cliques{nodes, 4};
  return std::make_shared<BlockPattern>(static_cast<Index>(mesh.vertices.size()), std::span(&cliques, 1));
}

/// How many supernodes of a factor differ in some number of their columns, among those that `counts` is true for.
template <class Counts>
int differing(const SymbolicFactor& plan, const std::vector<double>& before, const double* now, Counts&& counts) {
  int count = 0;
  for (std::size_t s = 0; s < plan.supernodes.size(); ++s) {
    if (!counts(static_cast<Index>(s))) continue;
    const auto& node = plan.supernodes[s];
    const std::int64_t columns = 3 * std::int64_t{node.pivots}, rows = columns + 3 * std::int64_t{node.rows};
    bool same = true;
    for (std::int64_t c = 0; c < columns && same; ++c) {
      const auto first = static_cast<std::size_t>(node.panel + c * node.stride + c);
      same = std::memcmp(before.data() + first, now + first, static_cast<std::size_t>(rows - c) * sizeof(double)) == 0;
    }
    count += !same;
  }
  return count;
}

void decide_locality(Context& context, const std::shared_ptr<const Model>& model) {
  const auto plan = std::make_shared<SymbolicFactor>(analyze_symbolic(*model->pattern(), 3));
  const SymbolicFactor& factor = *plan;
  // A row of a supernode's columns must belong to one of its ancestors.
  std::int64_t strangers = 0;
  for (std::size_t s = 0; s < factor.supernodes.size(); ++s)
    for (Index row : factor.rows_of(factor.supernodes[s])) {
      const Index owner = factor.supernode_of[at(row)];
      Index up = factor.supernodes[s].parent;
      while (up >= 0 && up != owner) up = factor.supernodes[at(up)].parent;
      strangers += up < 0;
    }
  Decision decision("warp-canceling/section-4.3/locality");
  decision.equal("nonzeros of L between supernodes of which neither is an ancestor of the other", double(strangers), 0);

  // The same matrix with the elements of one leaf stiffer, factorised as a whole again.
  MethodRun run(model, {"full", "corotational"}, 0.01);
  run.step();
  const BlockMatrix& A = dynamic_cast<const WarpCancelingStepper&>(run.stepper()).matrix().matrix();
  Multifrontal whole(plan);
  decision.needs(whole.factor(A, Factorisation::llt) == FactorStatus::ok, "the matrix is positive definite");
  const std::vector<double> before(whole.numbers().panels.get(), whole.numbers().panels.get() + plan->panel_numbers);
  std::vector<Index> leaves;
  for (std::size_t s = 0; s < factor.supernodes.size(); ++s)
    if (factor.supernodes[s].child_start == factor.supernodes[s].child_end) leaves.push_back(static_cast<Index>(s));
  for (std::size_t k : {leaves.size() / 5, leaves.size() / 2, 4 * leaves.size() / 5}) {
    const Index leaf = leaves[k];
    std::vector<std::uint8_t> on_path(factor.supernodes.size(), 0);
    int length = 0;
    for (Index s = leaf; s >= 0; s = factor.supernodes[at(s)].parent) on_path[at(s)] = 1, ++length;
    BlockMatrix stiffer = A;
    int elements = 0;
    for (const Tet& tet : model->bodies()[0].mesh->tets()) {
      if (std::none_of(tet.begin(), tet.end(),
                       [&](Index v) { return factor.supernode_of[at(factor.position[at(v)])] == leaf; }))
        continue;
      ++elements;
      for (Index v : tet)
        for (int c = 0; c < 3; ++c) stiffer.block(stiffer.pattern().find(v, v))[4 * c] *= 1.01;
    }
    whole.factor(stiffer, Factorisation::llt);
    const double* now = whole.numbers().panels.get();
    const int off = differing(factor, before, now, [&](Index s) { return !on_path[at(s)]; }),
              on = differing(factor, before, now, [&](Index s) { return on_path[at(s)] != 0; });
    context.row({{"supernodes", factor.supernodes.size()},
                 {"couplings_of_strangers", strangers},
                 {"leaf", leaf},
                 {"elements_changed", elements},
                 {"path", length},
                 {"changed_off_path", off},
                 {"changed_on_path", on}});
    decision.needs(elements > 0, "the leaf has elements")
        .equal(fmt::format("leaf {}: supernodes off its path to the root that differ", leaf), off, 0)
        .equal(fmt::format("leaf {}: supernodes on its path that differ", leaf), on, length);
  }
  context.decide(decision);
}

void decide_partial(Context& context, const std::shared_ptr<const Model>& model, int steps) {
  Random random(11);
  VecX b(3 * model->nodes());
  for (double& c : b) c = random.symmetric();
  int frames = 0;
  double worst = 0, last = 0;
  Frames run;
  // The tighter the threshold, the more frames refresh a part: until there are as many as the test asks for.
  for (double tau : {5e-3, 1e-3, 2e-4}) {
    if (frames >= 50) break;
    frames = 0;
    worst = last = 0;
    SparseCholesky partial, fresh;
    partial.analyze(model->pattern(), 3);
    partial.keep_updates(true);
    fresh.analyze(model->pattern(), 3);
    bool begun = false;
    run = record(context, model, paper_wc(tau), 0.01, steps, nullptr, 1e300, [&](const MethodRun& r) {
      const auto& stepper = dynamic_cast<const WarpCancelingStepper&>(r.stepper());
      const BlockMatrix& A = stepper.matrix().matrix();
      std::vector<Index> dirty;
      for (Index i = 0; i < model->nodes(); ++i)
        if (stepper.refreshed()[at(stepper.partition().of_node[at(i)])]) dirty.push_back(i);
      const double share = double(dirty.size()) / double(model->nodes());
      if (!begun || share > 0.999)
        partial.factor(A);
      else if (!dirty.empty())
        partial.refactor(A, dirty);
      begun = true;
      if (share < 0.01 || share > 0.9) return;
      ++frames;
      fresh.factor(A);
      Eigen::MatrixXd x = b, y = b;
      partial.solve(x);
      fresh.solve(y);
      last = (x - y).norm() / y.norm();
      worst = std::max(worst, last);
    });
  }
  context.row({{"partial_frames", frames}, {"worst", worst}, {"last", last}});
  context.decide(Decision("warp-canceling/section-4.3/partial-equals-full")
                     .needs(run.completed, "all frames complete")
                     .needs(frames >= 50, fmt::format("50 frames with 1 to 90% refreshed ({} there were)", frames))
                     .at_most("solution from that of a fresh factor, relative", worst, 1e-10)
                     .at_most("the same in the last of them (no drift)", last, 1e-10));
}

void decide_worst_case(Context& context, const std::shared_ptr<const Model>& model) {
  MethodRun run(model, {"full", "corotational"}, 0.01);
  run.step();
  const BlockMatrix& A = dynamic_cast<const WarpCancelingStepper&>(run.stepper()).matrix().matrix();
  SparseCholesky kept, bare;
  kept.analyze(model->pattern(), 3);
  kept.keep_updates(true);
  bare.analyze(model->pattern(), 3);
  const auto time = [](const std::function<void()>& work) {
    std::vector<double> seconds;
    for (int k = 0; k < 7; ++k) {
      const ProcessorTime processor(ProcessorTime::Of::program);
      work();
      seconds.push_back(processor.seconds());
    }
    return median(seconds);
  };
  // Nodes by their distance from a corner: growing parts of the body.
  std::vector<Index> order(at(model->nodes()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
  const Vec3 corner = node(model->rest(), 0);
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    return (node(model->rest(), a) - corner).norm() < (node(model->rest(), b) - corner).norm();
  });
  const double full = time([&] { kept.factor(A); });
  std::vector<double> flops, seconds;
  double one_percent = 0;
  for (double share : {0.01, 0.03, 0.1, 0.3, 0.6, 1.0}) {
    const std::vector<Index> dirty(order.begin(),
                                   order.begin() + static_cast<std::ptrdiff_t>(share * double(order.size())));
    seconds.push_back(time([&] { kept.refactor(A, dirty); }));
    flops.push_back(kept.statistics().last_flops);
    if (share < 0.02) one_percent = seconds.back();
    context.row(
        {{"share", share}, {"flops", flops.back()}, {"update_ms", 1e3 * seconds.back()}, {"full_ms", 1e3 * full}});
  }
  bare.factor(A);
  const std::vector<Index> first(order.begin(),
                                 order.begin() + static_cast<std::ptrdiff_t>(0.01 * double(order.size())));
  const double without = time([&] { bare.refactor(A, first); });
  bool monotone = true;
  double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
  const auto n = double(flops.size());
  for (std::size_t k = 0; k < flops.size(); ++k) {
    if (k > 0) monotone = monotone && seconds[k] >= 0.95 * seconds[k - 1];
    mx += flops[k] / n, my += seconds[k] / n;
  }
  for (std::size_t k = 0; k < flops.size(); ++k)
    xx += (flops[k] - mx) * (flops[k] - mx), yy += (seconds[k] - my) * (seconds[k] - my),
        xy += (flops[k] - mx) * (seconds[k] - my);
  const double correlation = xy / std::sqrt(xx * yy);
  context.decide(
      Decision("warp-canceling/section-4.3/worst-case-and-kept-blocks")
          .at_most("updating everything over a factorisation", seconds.back() / full, 1.1)
          .part("correlation of time with the flops of marked supernodes", correlation, "at least 0.95, times rising",
                correlation >= 0.95 && monotone)
          .at_least("1% in one corner: without kept blocks over with them", without / one_percent, 1.5)
          .because(fmt::format("processor time: {:.2f} ms a factorisation, {:.2f} to update all, {:.2f} and {:.2f} for "
                               "1% with and without kept blocks",
                               1e3 * full, 1e3 * seconds.back(), 1e3 * one_percent, 1e3 * without)));
}

Index root_separator(const BlockPattern& pattern) {
  SparseCholesky factor;
  factor.analyze(std::make_shared<BlockPattern>(pattern), 3);
  Index most = 0;
  for (const auto& s : factor.supernode_costs())
    if (s.parent < 0) most = std::max(most, s.nodes);
  return most;
}

void decide_separators(Context& context) {
  std::vector<double> logs, sizes;
  std::shared_ptr<const BlockPattern> largest;
  for (int cells : context.integers("boxes")) {
    largest = pattern_of(box({.cells = {cells, cells, cells}}));
    const Index root = root_separator(*largest);
    context.row({{"box_nodes", largest->rows()}, {"root_separator", root}});
    logs.push_back(std::log(double(largest->rows()))), sizes.push_back(std::log(double(root)));
  }
  double mx = 0, my = 0, xx = 0, xy = 0;
  for (std::size_t k = 0; k < logs.size(); ++k)
    mx += logs[k] / double(logs.size()), my += sizes[k] / double(logs.size());
  for (std::size_t k = 0; k < logs.size(); ++k)
    xx += (logs[k] - mx) * (logs[k] - mx), xy += (logs[k] - mx) * (sizes[k] - my);
  const auto lattice_pattern = sculpture(static_cast<Index>(context.number("lattice")), 5e6)->pattern();
  const Index of_lattice = root_separator(*lattice_pattern);
  // A box with as many nodes.
  const auto side = static_cast<Index>(std::lround(std::cbrt(double(lattice_pattern->rows())))) - 1;
  const Index of_box = root_separator(*pattern_of(box({.cells = {side, side, side}})));
  // Minimum degree on the graph of the largest box.
  std::vector<Eigen::Triplet<double>> entries;
  for (Index i = 0; i < largest->rows(); ++i)
    for (std::int64_t k = largest->row_start()[at(i)]; k < largest->row_start()[at(i) + 1]; ++k) {
      entries.emplace_back(i, largest->columns()[at(k)], 1.0);
      entries.emplace_back(largest->columns()[at(k)], i, 1.0);
    }
  Eigen::SparseMatrix<double> graph(largest->rows(), largest->rows());
  graph.setFromTriplets(entries.begin(), entries.end());
  Eigen::AMDOrdering<int>::PermutationType permutation;
  Eigen::AMDOrdering<int>()(graph, permutation);
  std::vector<Index> order(at(largest->rows()));
  for (Index i = 0; i < largest->rows(); ++i) order[at(i)] = permutation.indices()[i];
  SparseCholesky dissected, by_degree;
  dissected.analyze(largest, 3);
  by_degree.analyze_in_order(largest, 3, order);
  const double fill = double(dissected.statistics().factor_entries) / double(by_degree.statistics().factor_entries);
  context.row({{"lattice_nodes", lattice_pattern->rows()},
               {"lattice_separator", of_lattice},
               {"box_separator", of_box},
               {"fill_over_minimum_degree", fill}});
  context.decide(
      Decision("warp-canceling/section-4.3/separator-size")
          .between("slope of the root separator over the nodes of boxes, both logarithmic", xy / xx, 0.6, 0.75)
          .at_most("root separator of the lattice over that of a box with as many nodes", double(of_lattice) / of_box,
                   0.5)
          .needs(largest->rows() >= 20000, "the largest box has 20 thousand nodes")
          .at_most("fill of nested dissection over that of minimum degree", fill, 1));
}

void run_factor(Context& context) {
  const auto model = sculpture(static_cast<Index>(context.number("across")), 5e6);
  if (context.wants({"warp-canceling/section-4.3/separator-size"})) decide_separators(context);
  context.progress(0.05, "locality");
  if (context.wants({"warp-canceling/section-4.3/locality"})) decide_locality(context, model);
  context.progress(0.1, "cost");
  if (context.wants({"warp-canceling/section-4.3/worst-case-and-kept-blocks"})) decide_worst_case(context, model);
  // The frames take nearly all of the time.
  context.progress(0.2, "partial and whole");
  if (context.wants({"warp-canceling/section-4.3/partial-equals-full"}))
    decide_partial(context, model, static_cast<int>(context.number("steps")));
}

/// Section 6: megabytes of matrix, factor and kept update blocks, by analysis alone.
void run_memory(Context& context) {
  constexpr double kTets[] = {6681, 115712, 329131}, kFactor[] = {7.8, 268, 956};
  Decision memory("warp-canceling/section-6/memory"), standard("warp-canceling/section-6/memory-of-standard");
  double last_updates = 0, last_factor = 0;
  const std::vector<int> sizes = context.integers("across");
  for (std::size_t k = 0; k < sizes.size() && !context.stopped(); ++k) {
    context.progress(double(k) / double(sizes.size()), fmt::format("{} cells across a strut", sizes[k]));
    const auto model = sculpture(sizes[k], 5e6);
    const double tets = double(model->bodies()[0].mesh->tets().size());
    SparseCholesky factor;
    factor.analyze(model->pattern(), 3);
    factor.keep_updates(true);
    const auto statistics = factor.statistics();
    const double matrix_mb = double(model->pattern()->blocks()) * 72 / 1e6,
                 factor_mb = double(statistics.factor_bytes) / 1e6, updates_mb = double(statistics.update_bytes) / 1e6;
    // Live update blocks of a postorder that frees what it has added, in numbers.
    const SymbolicFactor symbolic = analyze_symbolic(*model->pattern(), 3);
    const auto block = [&](Index s) {
      const double rows = 3.0 * symbolic.supernodes[at(s)].rows;
      return 0.5 * rows * (rows + 1);
    };
    double live = 0, peak = 0, kept = 0;
    for (std::size_t s = 0; s < symbolic.supernodes.size(); ++s) {
      const double own = block(static_cast<Index>(s));
      peak = std::max(peak, live + own);
      for (Index child : symbolic.children_of(symbolic.supernodes[s])) live -= block(child);
      live += own, kept += own;
      peak = std::max(peak, live);
    }
    const std::string which = fmt::format("{:.0f} tets: ", tets);
    context.row({{"tets", tets},
                 {"matrix_mb", matrix_mb},
                 {"factor_mb", factor_mb},
                 {"updates_mb", updates_mb},
                 {"live_over_kept", peak / kept}});
    memory.between(which + "factor a tet over the paper's", factor_mb / tets / (kFactor[k] / kTets[k]), 0.65, 1.35)
        .above(which + "updates over factor, over that of the smaller mesh",
               updates_mb / factor_mb / (k ? last_updates : 1), k ? 1 : 1.5)
        .above(which + "factor over matrix, over that of the smaller mesh",
               factor_mb / matrix_mb / (k ? last_factor : 1), k ? 1 : 0)
        .because(fmt::format("{}{:.1f} MB of matrix, {:.1f} of factor, {:.1f} of update blocks", which, matrix_mb,
                             factor_mb, updates_mb));
    standard.at_most(which + "largest live update blocks over all that are kept", peak / kept, 0.3);
    last_updates = updates_mb / factor_mb, last_factor = factor_mb / matrix_mb;
  }
  memory.needs(sizes.size() == 3, "all three sizes are analysed");
  standard.needs(sizes.size() == 3, "all three sizes are analysed");
  context.decide(memory);
  context.decide(standard);
}

}  // namespace

Experiment factor_experiment() {
  return {"warp-canceling/factor",
          "Partial refactorisation itself: locality, exactness, cost, orderings (section 4.3)",
          {{"across", "5", "2", "cells across a strut of the sculpture"},
           {"steps", "300", "100", "frames"},
           {"boxes", "12,19,29,39", "12,16,21,27", "cells along a side of the boxes whose separators are measured"},
           {"lattice", "5", "4", "cells across a strut of the lattice whose separator is measured"}},
          run_factor};
}

Experiment memory_experiment() {
  return {"warp-canceling/memory",
          "Memory of matrix, factor and kept blocks over mesh sizes (section 6)",
          {{"across", "2,5,7", "2,5,7", "cells across a strut: 2, 5, 7 give about 7, 115 and 330 thousand tets"}},
          run_memory};
}

}  // namespace pliant::experiments
