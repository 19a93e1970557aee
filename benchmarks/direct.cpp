// What our direct solver does that others do not, against its own whole factorisation: partial refactorisation, early
// stop on indefinite matrices, pivoted factorisation, a factor in float; and how time and memory grow. One thread,
// processor time, medians.
//
//   benchmark_direct [most nodes of the growth table, default 30000]
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <set>

#include "cholesky_matrices.hpp"
#include "pliant/linalg/sparse_cholesky.hpp"

namespace {

using namespace pliant;
using Eigen::MatrixXd;

double now() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double median_seconds(const std::function<void()>& work, int turns = 5) {
  std::vector<double> seconds;
  for (int t = 0; t < turns; ++t) {
    const double begin = now();
    work();
    seconds.push_back(now() - begin);
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

void expect_ok(FactorStatus status) {
  if (status != FactorStatus::ok) std::printf("FAILED: %s\n", std::string(to_string(status)).c_str());
}

/// The nodes of the hundredth part of the elements that is nearest to the corner (0, 0, 0).
std::vector<Index> corner_nodes(const TetMesh& mesh) {
  std::vector<std::pair<double, const Tet*>> by_distance;
  for (const Tet& tet : mesh.tets()) {
    Vec3 centre = Vec3::Zero();
    for (Index v : tet) centre += mesh.vertices()[static_cast<std::size_t>(v)] / 4;
    by_distance.emplace_back(centre.norm(), &tet);
  }
  std::sort(by_distance.begin(), by_distance.end());
  std::set<Index> nodes;
  for (std::size_t k = 0; k < by_distance.size() / 100 + 1; ++k)
    nodes.insert(by_distance[k].second->begin(), by_distance[k].second->end());
  return {nodes.begin(), nodes.end()};
}

void refactor_row(const char* name, const TetMesh& mesh, bool named, double bar) {
  const BlockMatrix A = stiffness_and_mass(mesh);
  const std::vector<Index> dirty = corner_nodes(mesh);
  SparseCholesky solver;
  AnalysisOptions options;
  if (named) options.last_nodes = dirty;
  solver.analyze(A.shared_pattern(), 3, options);
  solver.keep_updates(true);
  expect_ok(solver.factor(A));
  const double full = median_seconds([&] { expect_ok(solver.factor(A)); });
  const double part = median_seconds([&] { expect_ok(solver.refactor(A, dirty)); });
  const auto statistics = solver.statistics();
  std::printf("%-34s %7d %6zu   %8.1f %8.1f   %5.3f  %5.3f   %4.2f   %.2fx\n", name, A.pattern().rows(), dirty.size(),
              1e3 * full, 1e3 * part, part / full, statistics.last_flops / statistics.flops, bar,
              double(statistics.update_bytes) / double(statistics.factor_bytes));
  std::fflush(stdout);
}

void refactor_table() {
  std::printf("Refactorisation after 1%% of the elements, in one corner, changed\n");
  std::printf("%-34s %7s %6s   %8s %8s   %5s  %5s   %4s   %s\n", "", "nodes", "dirty", "full ms", "part ms", "time",
              "flops", "bar", "updates/factor");
  for (int nodes : {10000, 30000}) {
    refactor_row("compact beam 2:1:1", beam_mesh(nodes), false, 0.45);
    refactor_row("the same, region ordered last", beam_mesh(nodes), true, 0.2);
    refactor_row("slender beam 40:1:1", beam_mesh(nodes, 40), false, 0.1);
  }
}

/// Positions compressed along x, with a ripple so that no two elements are alike.
VecX compressed(const TetMesh& mesh, double by) {
  VecX x = positions(mesh);
  for (Eigen::Index i = 0; i + 2 < x.size(); i += 3) {
    x[i] *= 1 - by;
    x[i + 1] += 0.01 * std::sin(7 * x[i]) * std::cos(5 * x[i + 2]);
  }
  return x;
}

void indefinite_table() {
  const TetMesh mesh = beam_mesh(10000);
  SparseCholesky solver;
  const BlockMatrix rest = stiffness_and_mass(mesh);
  solver.analyze(rest.shared_pattern(), 3);
  expect_ok(solver.factor(rest));
  const double full = median_seconds([&] { expect_ok(solver.factor(rest)); });
  std::printf("\nCompressed Neo-Hookean beam, %d nodes; LL^T at rest %.1f ms\n", rest.pattern().rows(), 1e3 * full);
  std::printf("compressed   stiffness      LL^T       cost   negative  perturbed   LDL^T/LL^T   residual\n");
  double sum = 0;
  int rows = 0;
  for (double young : {4e5, 4e7}) {
    for (double by : {0.1, 0.2, 0.3, 0.4, 0.5}) {
      const BlockMatrix A = stiffness_and_mass(mesh, compressed(mesh, by), young);
      FactorStatus status = FactorStatus::ok;
      const double attempt = median_seconds([&] { status = solver.factor(A); }, 3);
      if (status == FactorStatus::not_positive_definite) {
        sum += attempt / full;
        ++rows;
      }
      const double pivoted = median_seconds([&] { expect_ok(solver.factor(A, Factorisation::ldlt)); }, 1);
      const MatrixXd b = MatrixXd::Random(3 * Eigen::Index(mesh.vertices().size()), 1);
      MatrixXd x = b;
      VecX product;
      solver.solve(x);
      A.multiply(x, product);
      std::printf("    %.0f%%       %.0e   %-10s  %5.2f   %8d  %9d   %10.2f   %8.1e\n", 100 * by, young,
                  status == FactorStatus::ok ? "succeeds" : "fails", attempt / full, solver.inertia().negative,
                  solver.perturbed_pivots(), pivoted / full, (product - b).norm() / b.norm());
    }
  }
  if (rows > 0) std::printf("A failed LL^T costs %.2f of a factorisation on average; bar 0.5\n", sum / rows);
}

void float_table() {
  std::printf("\nScalar Laplacian, 3 right-hand sides\n  nodes   factor MB   double ms   float ms   ratio (bar 0.6)\n");
  for (int nodes : {10000, 30000, 60000}) {
    const BlockMatrix A = laplacian(beam_mesh(nodes));
    SparseCholesky solver;
    solver.analyze(A.shared_pattern(), 1);
    expect_ok(solver.factor(A));
    MatrixXd b = MatrixXd::Random(A.pattern().rows(), 3);
    const double bytes = double(solver.statistics().factor_bytes);
    const double in_double = median_seconds([&] { solver.solve(b); }, 15);
    solver.store_in_float();
    const double in_float = median_seconds([&] { solver.solve(b); }, 15);
    std::printf("%7d   %9.1f   %9.2f   %8.2f   %5.2f\n", A.pattern().rows(), 1e-6 * bytes, 1e3 * in_double,
                1e3 * in_float, in_float / in_double);
  }
}

void growth_table(int most) {
  std::printf("\nGrowth, 3x3 blocks\n  nodes   analysis ms   factor ms   million numbers   Gflop   solve ms\n");
  std::vector<std::array<double, 3>> rows;
  for (int nodes = 2000; nodes <= most; nodes *= 2) {
    const BlockMatrix A = stiffness_and_mass(beam_mesh(nodes));
    SparseCholesky solver;
    const double analysis = median_seconds([&] { solver.analyze(A.shared_pattern(), 3); }, 1);
    expect_ok(solver.factor(A));
    const double factor = median_seconds([&] { expect_ok(solver.factor(A)); }, nodes < 20000 ? 5 : 3);
    MatrixXd b = MatrixXd::Random(3 * Eigen::Index(A.pattern().rows()), 1);
    const double solve = median_seconds([&] { solver.solve(b); });
    const auto s = solver.statistics();
    std::printf("%7d   %11.1f   %9.1f   %15.2f   %5.2f   %8.2f\n", A.pattern().rows(), 1e3 * analysis, 1e3 * factor,
                1e-6 * double(s.factor_entries), 1e-9 * s.flops, 1e3 * solve);
    std::fflush(stdout);
    rows.push_back({double(A.pattern().rows()), factor, double(s.factor_entries)});
  }
  const auto& first = rows[rows.size() / 2];
  const auto& last = rows.back();
  const double n = std::log(last[0] / first[0]);
  std::printf("exponents over the upper half: time %.2f (theory 2), memory %.2f (theory 4/3)\n",
              std::log(last[1] / first[1]) / n, std::log(last[2] / first[2]) / n);
}

}  // namespace

int main(int argc, char** argv) {
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  refactor_table();
  indefinite_table();
  float_table();
  growth_table(argc > 1 ? std::atoi(argv[1]) : 30000);
}
