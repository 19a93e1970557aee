// Our sparse direct solver against those a user would pick instead: CHOLMOD (supernodal, METIS, OpenBLAS with as many
// threads), MUMPS and Eigen's SimplicialLLT, on stiffness + mass matrices of box beams and of meshes given by path.
//
//   benchmark_cholesky [--quick] [--turns N] [--nodes N,N,...] [--threads 1,2] [--no-slow] [mesh files]
//
// Peers run in turns (ours, theirs, ours, ...) in one process per number of threads, so that a change of clock or load
// meets all. Shown are medians and, as ratios, median over median and fastest over fastest; the second is the better
// estimate on a machine that is not quiet. The bars are the project's own aims against CHOLMOD.
#include <cblas.h>
#include <oneapi/tbb/global_control.h>

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <sstream>
#include <string>

#include "cholesky_matrices.hpp"
#include "pliant/linalg/backends/scalar_matrix.hpp"
#include "pliant/linalg/direct_solver.hpp"

namespace {

using namespace pliant;
using Eigen::MatrixXd;

struct Options {
  int turns = 7;
  std::vector<int> nodes{3000, 10000, 30000, 60000};
  std::vector<int> threads{1, 2};
  bool slow_peers = true;
  std::vector<std::string> meshes;
};

/// With one thread, processor time of the process, so that other programs disturb less; with more, time on the wall.
double now(bool one_thread) {
  timespec time;
  clock_gettime(one_thread ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

bool one_thread = true;

double seconds_of(const std::function<void()>& work) {
  const double begin = now(one_thread);
  work();
  return now(one_thread) - begin;
}

struct Sample {
  std::vector<double> seconds;
  double median() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? 0 : sorted[sorted.size() / 2];
  }
  double fastest() const { return seconds.empty() ? 0 : *std::min_element(seconds.begin(), seconds.end()); }
};

/// Runs the works in turns.
std::vector<Sample> measure(const std::vector<std::function<void()>>& works, int turns) {
  std::vector<Sample> samples(works.size());
  for (const auto& work : works) work();
  for (int t = 0; t < turns; ++t) {
    for (std::size_t w = 0; w < works.size(); ++w) samples[w].seconds.push_back(seconds_of(works[w]));
  }
  return samples;
}

void print_ratio(const char* what, const Sample& ours, const Sample& theirs, double bar, const char* peer) {
  std::printf("  %-28s %9.2f ms  %-8s %9.2f ms   %5.2fx  (fastest %5.2fx)", what, 1e3 * ours.median(), peer,
              1e3 * theirs.median(), theirs.median() / ours.median(), theirs.fastest() / ours.fastest());
  if (bar > 0) std::printf("   bar %.2fx", bar);
  std::printf("\n");
  std::fflush(stdout);
}

/// The aim against CHOLMOD with 1 and 2 threads at about so many nodes; 0 where none is set.
double factor_bar(int nodes, int threads) {
  if (threads > 2 || nodes < 7000) return 0;
  if (nodes < 20000) return threads == 1 ? 1.4 : 1.7;
  if (nodes < 45000) return threads == 1 ? 1.2 : 1.5;
  return threads == 1 ? 1.1 : 1.45;
}

double bar(int threads, double one, double two) { return threads == 1 ? one : threads == 2 ? two : 0; }

/// OpenBLAS is shared: one thread inside our tasks, as many as tasks for the peers.
void with_blas_threads(int threads, const std::function<void()>& work) {
  openblas_set_num_threads(threads);
  work();
  openblas_set_num_threads(1);
}

void compare(const std::string& name, const BlockMatrix& A, int threads, const Options& options) {
  const Index nodes = A.pattern().rows();
  const int b = A.block_size();
  auto ours = make_direct_solver(DirectBackend::pliant);
  auto cholmod = make_direct_solver(DirectBackend::cholmod);
  const int few = std::max(1, options.turns / 3);
  const auto analysis = measure({[&] { ours->analyze(A.shared_pattern(), b); },
                                 [&] { with_blas_threads(threads, [&] { cholmod->analyze(A.shared_pattern(), b); }); }},
                                few);
  const auto statistics = ours->statistics(), theirs = cholmod->statistics();
  std::printf(
      "%s: %d nodes, blocks of %d, %d thread%s; factor %.1f (CHOLMOD %.1f) million numbers, %.2f (%.2f) Gflop\n",
      name.c_str(), nodes, b, threads, threads == 1 ? "" : "s", 1e-6 * double(statistics.factor_entries),
      1e-6 * double(theirs.factor_entries), 1e-9 * statistics.flops, 1e-9 * theirs.flops);
  print_ratio("analysis", analysis[0], analysis[1], 2.5, "cholmod");

  const auto check = [](FactorStatus status) {
    if (status != FactorStatus::ok) std::printf("  FAILED: %s\n", std::string(to_string(status)).c_str());
  };
  std::vector<std::function<void()>> factor{
      [&] { check(ours->factor(A, Factorisation::llt)); },
      [&] { with_blas_threads(threads, [&] { check(cholmod->factor(A, Factorisation::llt)); }); }};
  std::unique_ptr<DirectSolver> mumps;
  Eigen::SimplicialLLT<Eigen::SparseMatrix<double>, Eigen::Upper, Eigen::AMDOrdering<int>> simplicial;
  ScalarMatrix scalar;
  if (options.slow_peers) {
    mumps = make_direct_solver(DirectBackend::mumps);
    mumps->analyze(A.shared_pattern(), b);
    factor.push_back([&] { with_blas_threads(threads, [&] { check(mumps->factor(A, Factorisation::llt)); }); });
  }
  const auto factored = measure(factor, options.turns);
  print_ratio("factorisation", factored[0], factored[1], b == 3 ? factor_bar(nodes, threads) : 0, "cholmod");
  std::printf("  %-28s %9.2f GFLOP/s   %-5s %8.2f GFLOP/s\n", "", 1e-9 * statistics.flops / factored[0].fastest(),
              "cholmod", 1e-9 * theirs.flops / factored[1].fastest());
  if (mumps) print_ratio("factorisation", factored[0], factored[2], 0, "mumps");
  if (options.slow_peers && nodes < 15000) {
    scalar = ScalarMatrix(A.shared_pattern(), b);
    scalar.set(A);
    const Eigen::Map<const Eigen::SparseMatrix<double>> view(
        scalar.size(), scalar.size(), static_cast<Eigen::Index>(scalar.values.size()), scalar.column_start.data(),
        scalar.rows.data(), scalar.values.data());
    const Eigen::SparseMatrix<double> copy = view;
    simplicial.analyzePattern(copy);
    Sample one;
    one.seconds.push_back(seconds_of([&] { simplicial.factorize(copy); }));
    print_ratio("factorisation", factored[0], one, 0, "eigen");
  }

  const std::vector<Eigen::Index> counts =
      b == 3 ? std::vector<Eigen::Index>{1, 13, 31} : std::vector<Eigen::Index>{1, 3};
  for (Eigen::Index columns : counts) {
    const MatrixXd rhs = MatrixXd::Random(Eigen::Index(b) * nodes, columns);
    MatrixXd x = rhs, y = rhs;
    const auto solved = measure({[&] {
                                   x = rhs;
                                   ours->solve(x);
                                 },
                                 [&] {
                                   y = rhs;
                                   with_blas_threads(threads, [&] { cholmod->solve(y); });
                                 }},
                                2 * options.turns);
    const double aim = b == 1 ? (columns == 3 ? bar(threads, 1.5, 2.4) : 0)
                              : (columns == 1 ? bar(threads, 1.15, 1.6) : bar(threads, 1.25, 1.9));
    print_ratio(("solve, " + std::to_string(columns) + " right-hand sides").c_str(), solved[0], solved[1], aim,
                "cholmod");
    if (!((x - y).norm() < 1e-6 * y.norm()))
      std::printf("  FAILED: solutions differ by %g\n", (x - y).norm() / y.norm());
  }
}

std::vector<int> numbers(const std::string& list) {
  std::vector<int> result;
  std::stringstream stream(list);
  for (std::string word; std::getline(stream, word, ',');) result.push_back(std::atoi(word.c_str()));
  return result;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int a = 1; a < argc; ++a) {
    const std::string word = argv[a];
    if (word == "--quick") {
      options.turns = 5;
      options.nodes = {3000, 10000};
    } else if (word == "--no-slow") {
      options.slow_peers = false;
    } else if (word == "--turns" && a + 1 < argc) {
      options.turns = std::max(1, std::atoi(argv[++a]));
    } else if (word == "--nodes" && a + 1 < argc) {
      options.nodes = numbers(argv[++a]);
    } else if (word == "--threads" && a + 1 < argc) {
      options.threads = numbers(argv[++a]);
    } else {
      options.meshes.push_back(word);
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  // CHOLMOD starts OpenMP threads of its own, whose number only the environment limits, and only at the start of a
  // process.
  const char* limit = std::getenv("OMP_THREAD_LIMIT");
  if (!limit || options.threads.size() != 1 || std::atoi(limit) != options.threads.front()) {
    int result = 0;
    for (int threads : options.threads) {
      setenv("OMP_THREAD_LIMIT", std::to_string(threads).c_str(), 1);
      setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);
      setenv("OMP_WAIT_POLICY", "passive", 1);  // or its idle threads take the cores from OpenBLAS's
      std::string command;
      for (int a = 0; a < argc; ++a) command.append("'").append(argv[a]).append("' ");
      result |= std::system((command + "--threads " + std::to_string(threads)).c_str());
    }
    return result != 0;
  }
  const int threads = options.threads.front();
  one_thread = threads == 1;
  const tbb::global_control control(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  for (int nodes : options.nodes) {
    const TetMesh mesh = beam_mesh(nodes);
    compare("box beam", stiffness_and_mass(mesh), threads, options);
    compare("box beam, Laplacian", laplacian(mesh), threads, options);
  }
  for (const std::string& path : options.meshes) {
    const TetMesh mesh(read_mesh(path));
    compare(path, stiffness_and_mass(mesh), threads, options);
  }
}
