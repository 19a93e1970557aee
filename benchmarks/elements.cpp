// Elements per second on one core: Pliant's batches against the plainest scalar code (one element and one quadrature
// point at a time, Eigen's JacobiSVD for the laws that need a decomposition, the direct formula for Neo-Hookean). The
// two are measured alternately, so that a change of clock or load meets both; the table shows medians and their ratio.
//
//   elements [seconds per measurement, default 0.1]

#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <vector>

#include "pliant/energies/assembler.hpp"
#include "pliant/energies/elastic.hpp"
#include "pliant/linalg/sparse_cholesky.hpp"
#include "pliant/mesh/generators.hpp"
#include "support/scalar_elastic.hpp"

namespace {

using namespace pliant;

constexpr int kRepetitions = 7;

/// Processor time of this thread, so that other programs on the machine disturb less.
double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_of(const std::function<void()>& work) {
  const double begin = now();
  work();
  return now() - begin;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// Seconds per call of each, measured in turns.
std::vector<double> measure(const std::vector<std::function<void()>>& works, double budget) {
  std::vector<int> calls;
  for (const auto& work : works) {
    work();
    calls.push_back(std::max(1, static_cast<int>(budget / kRepetitions / std::max(seconds_of(work), 1e-9))));
  }
  std::vector<std::vector<double>> times(works.size());
  for (int r = 0; r < kRepetitions; ++r) {
    for (std::size_t w = 0; w < works.size(); ++w) {
      times[w].push_back(seconds_of([&] {
                           for (int c = 0; c < calls[w]; ++c) works[w]();
                         }) /
                         calls[w]);
    }
  }
  std::vector<double> medians;
  for (auto& t : times) medians.push_back(median(t));
  return medians;
}

/// A mesh that fits into the second-level cache, so that arithmetic is measured and not memory; bent and compressed by
/// up to a third, with no two elements alike.
struct Problem {
  TetMesh mesh;
  FeMesh fe;
  VecX x;

  Problem(int order, Index cells)
      : mesh(box({.size = {1, 1, 1}, .cells = {cells, cells, cells}, .split = BoxSplit::six})), fe(mesh, order) {
    x.resize(3 * fe.node_count());
    for (Index i = 0; i < fe.node_count(); ++i) {
      const Vec3 X = fe.positions()[static_cast<std::size_t>(i)];
      node(x, i) =
          X + Vec3(0.3 * X[0] * X[1] - 0.2 * X[2], 0.3 * X[0] * X[0] - 0.25 * X[1], 0.2 * X[1] * X[2] + 0.2 * X[0]);
    }
  }
};

template <int Nodes>
void compare(const Problem& problem, const std::string& name, double budget) {
  const Lame lame = lame_from_young(1e5, 0.4);
  const ElasticEnergy ours(problem.fe, find_law(name), {lame}, 0);
  const testing::ScalarElastic<Nodes> plain(problem.fe, {testing::scalar_kind(name), lame});
  const Index count = problem.fe.element_count();
  // A few hundred elements at a time, as the assembler asks for them; output stays in cache.
  constexpr Index kChunk = Nodes == 20 ? 64 : 256;
  std::vector<double> values(kChunk), gradients(3 * Nodes * kChunk), blocks(9 * local_blocks(Nodes) * kChunk);
  const auto chunks = [&](const std::function<void(Range)>& body) {
    return [=] {
      for (Index begin = 0; begin < count; begin += kChunk) body({begin, std::min(begin + kChunk, count)});
    };
  };
  const auto times =
      measure({chunks([&](Range r) { ours.evaluate(problem.x, r, values.data(), gradients.data()); }),
               chunks([&](Range r) { plain.evaluate(problem.x, r, values.data(), gradients.data()); }),
               chunks([&](Range r) { ours.hessians(problem.x, r, Projection::none, blocks.data()); }),
               chunks([&](Range r) { plain.hessians(problem.x, r, blocks.data()); }),
               chunks([&](Range r) { ours.hessians(problem.x, r, Projection::analytic, blocks.data()); })},
              budget);
  const auto rate = [&](double seconds) { return 1e-6 * count / seconds; };
  std::printf("P%d  %-20s %9.3f %9.3f %6.1fx   %9.3f %9.3f %6.1fx   %9.3f\n", problem.fe.reference().order(),
              name.c_str(), rate(times[0]), rate(times[1]), times[1] / times[0], rate(times[2]), rate(times[3]),
              times[3] / times[2], rate(times[4]));
  std::fflush(stdout);
}

/// With assembly into the global vector and matrix, on one thread.
void assembled(const Problem& problem, const std::string& name, double budget) {
  const ElasticEnergy energy(problem.fe, find_law(name), {lame_from_young(1e5, 0.4)}, 0);
  const Energy* pointer = &energy;
  const auto pattern = coupling_pattern(problem.fe.node_count(), std::span(&pointer, 1));
  Assembler assembler(problem.fe.node_count(), {&energy});
  BlockMatrix A(pattern, 3);
  VecX g = VecX::Zero(problem.x.size());
  const auto times = measure({[&] { assembler.add_gradient(problem.x, g); },
                              [&] {
                                A.set_zero();
                                assembler.add_hessian(problem.x, Projection::none, A);
                              }},
                             budget);
  const Index count = problem.fe.element_count();
  std::printf("P%d  %-20s %9.3f %9.3f\n", problem.fe.reference().order(), name.c_str(), 1e-6 * count / times[0],
              1e-6 * count / times[1]);
}

/// What the Hessian costs in a Newton iteration: assembly against factorisation and solve, on a beam of some 18
/// thousand vertices, pulled a little, with the inertia of a step of 1/60 s.
void share_of_newton_iteration() {
  const TetMesh mesh(box({.size = {2, 1, 1}, .cells = {40, 20, 20}, .split = BoxSplit::six}));
  const FeMesh fe(mesh, 1);
  const ElasticEnergy energy(fe, find_law("neo-hookean"), {lame_from_young(4e5, 0.4)}, 0);
  const Energy* pointer = &energy;
  const auto pattern = coupling_pattern(fe.node_count(), std::span(&pointer, 1));
  Assembler assembler(fe.node_count(), {&energy});
  BlockMatrix A(pattern, 3);
  VecX x(3 * fe.node_count());
  for (Index i = 0; i < fe.node_count(); ++i) node(x, i) = 1.02 * fe.positions()[static_cast<std::size_t>(i)];
  const double inertia = 1000 * mesh.total_volume() / fe.node_count() * 3600;
  SparseCholesky cholesky;
  cholesky.analyze(pattern, 3);
  Eigen::MatrixXd b = Eigen::MatrixXd::Ones(x.size(), 1);
  const auto times = measure({[&] {
                                A.set_zero();
                                assembler.add_hessian(x, Projection::none, A);
                                for (Index i = 0; i < fe.node_count(); ++i)
                                  for (int e : {0, 4, 8}) A.block(pattern->diagonal(i))[e] += inertia;
                              },
                              [&] {
                                if (cholesky.factor(A, Factorisation::llt) != FactorStatus::ok)
                                  std::printf("not positive definite\n");
                                cholesky.solve(b);
                              }},
                             0.1);
  std::printf(
      "\nA Newton iteration with %d vertices and %d linear tets, one thread: Hessian %.1f ms, factorisation and "
      "solve %.0f ms, share %.1f%%\n",
      fe.node_count(), fe.element_count(), 1e3 * times[0], 1e3 * times[1], 100 * times[0] / times[1]);
}

}  // namespace

int main(int argc, char** argv) {
  const double budget = argc > 1 ? std::atof(argv[1]) : 0.1;
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  const Problem linear(1, 8), quadratic(2, 5), cubic(3, 3);
  std::printf("Million elements per second and core; median of %d turns.\n\n", kRepetitions);
  std::printf("                           energy and gradient               exact Hessian, local          projected\n");
  std::printf("    law                     pliant    scalar   ratio      pliant    scalar   ratio      pliant\n");
  for (const auto& law : laws()) compare<4>(linear, law->info().name, budget);
  for (const auto& law : laws()) compare<10>(quadratic, law->info().name, budget);
  for (const auto& law : laws()) compare<20>(cubic, law->info().name, budget);
  std::printf("\nAssembled            gradient   Hessian\n");
  for (const Problem* problem : {&linear, &quadratic, &cubic}) {
    for (const char* law : {"neo-hookean", "fixed-corotated"}) assembled(*problem, law, budget);
  }
  share_of_newton_iteration();
}
