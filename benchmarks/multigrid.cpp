// Conjugate gradients with multigrid beside block-Jacobi, on stiffness matrices of clamped bodies without inertia, and
// how iterations and memory grow with the body. Processor time of one thread; residuals fall to 1e-6.
//
//   benchmark_multigrid [VERTICES [CASE]]      CASE: part of a name
#include <oneapi/tbb/global_control.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "pliant/energies/assembler.hpp"
#include "pliant/energies/elastic.hpp"
#include "pliant/linalg/multigrid/multigrid.hpp"
#include "pliant/linalg/pcg.hpp"
#include "pliant/mesh/generators.hpp"
#include "thread_time.hpp"

namespace {

using namespace pliant;

struct Case {
  std::string name;
  Vec3 shape = {2, 1, 1};
  Vec3 cell = {1, 1, 1};  ///< edges of a cell relative to each other
  double poisson = 0.4;
  double jump = 1;     ///< every other slab along x is so many times stiffer
  double inertia = 0;  ///< over the largest entry of the stiffness; then nothing is clamped

  int order = 1;
};

struct System {
  BlockMatrix A, rest;
  VecX x;
};

System make_system(const Case& c, double vertices) {
  const Vec3 counts = c.shape.cwiseQuotient(c.cell);
  const double scale = std::cbrt(vertices / counts.prod());
  std::array<Index, 3> cells;
  for (std::size_t a = 0; a < 3; ++a)
    cells[a] = std::max<Index>(1, static_cast<Index>(std::lround(scale * counts[static_cast<int>(a)] / c.order) - 1));
  const TetMesh mesh(box({.size = c.shape, .cells = cells, .split = BoxSplit::five}));
  const FeMesh fe(mesh, c.order);
  std::vector<Lame> lame;
  for (const Tet& tet : mesh.tets()) {
    double centre = 0;
    for (Index v : tet) centre += mesh.vertices()[at(v)].x() / 4;
    const bool is_stiff = std::fmod(8 * centre / c.shape.x(), 2) > 1;
    lame.push_back(lame_from_young(is_stiff ? c.jump * 4e5 : 4e5, c.poisson));
  }
  const ElasticEnergy energy(fe, find_law("stable-neo-hookean"), lame, 0);
  const Energy* pointer = &energy;
  const auto pattern = coupling_pattern(fe.node_count(), std::span(&pointer, 1));
  System system{BlockMatrix(pattern, 3), BlockMatrix(pattern, 3), VecX(3 * Eigen::Index(fe.node_count()))};
  for (Index i = 0; i < fe.node_count(); ++i) node(system.x, i) = fe.positions()[at(i)];
  Assembler(fe.node_count(), {&energy}).add_hessian(Pose(system.x), Projection::analytic, system.rest);
  system.A = system.rest;
  if (c.inertia > 0) {
    double largest = 0;
    for (Index i = 0; i < fe.node_count(); ++i) largest = std::max(largest, system.A.block(pattern->diagonal(i))[0]);
    for (Index i = 0; i < fe.node_count(); ++i)
      for (int e : {0, 4, 8}) system.A.block(pattern->diagonal(i))[e] += c.inertia * largest;
    return system;
  }
  std::vector<std::uint8_t> fixed(at(system.x.size()), 0);
  for (Index i = 0; i < fe.node_count(); ++i)
    if (node(system.x, i).x() < 1e-9) fixed[at(3 * i)] = fixed[at(3 * i + 1)] = fixed[at(3 * i + 2)] = 1;
  system.A.eliminate(fixed);
  return system;
}

struct Solved {
  int iterations;
  double set_ms, solve_ms;
};

template <class T>
Solved solve(const BlockMatrix& A, Preconditioner<T>& preconditioner) {
  BlockProduct<T> product(A.shared_pattern(), 3);
  product.set(A);
  VectorOf<T> b = VectorOf<T>::Zero(3 * Eigen::Index(A.pattern().rows())), x = b;
  for (Index i = 0; i < A.pattern().rows(); ++i) b[3 * Eigen::Index(i) + 1] = -1;
  preconditioner.set(product);
  const double begin = thread_time();
  preconditioner.set(product);
  const double middle = thread_time();
  const PcgReport report = Pcg<T>().solve(product, b, x, preconditioner, {1e-6, 20000});
  return {report.iterations, middle - begin, thread_time() - middle};
}

}  // namespace

int main(int count, char** arguments) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 1);
  std::vector<double> sizes = {3000, 10000, 30000, 100000};
  if (count > 1) sizes = {std::atof(arguments[1])};
  const std::string only = count > 2 ? arguments[2] : "";
  const std::vector<Case> cases = {
      {.name = "cantilever 2:1:1"},
      {.name = "slender 20:1:1", .shape = {20, 1, 1}},
      {.name = "sheet 20:20:1", .shape = {20, 20, 1}},
      {.name = "flat cells 1:1:10", .cell = {10, 10, 1}},
      {.name = "long cells 10:1:1", .cell = {10, 1, 1}},
      {.name = "jump of 1e4", .jump = 1e4},
      {.name = "Poisson 0.49", .poisson = 0.49},
      {.name = "P2", .order = 2},
      {.name = "free, inertia 1e-3", .inertia = 1e-3},
      {.name = "free, inertia 1e-6", .inertia = 1e-6},
  };
  std::printf("%-20s %8s  %9s %6s  %6s %6s %6s %8s %8s %6s  %6s\n", "", "nodes", "jacobi ms", "its", "levels", "coarse",
              "compl.", "set ms", "solve ms", "its", "MB");
  for (const double vertices : sizes)
    for (const Case& c : cases) {
      if (c.name.find(only) == std::string::npos) continue;
      const System system = make_system(c, vertices);
      auto jacobi = make_preconditioner<double>(PreconditionerKind::block_jacobi);
      const Solved plain = solve<double>(system.A, *jacobi);
      Multigrid multigrid(system.rest, system.x);
      const Solved solved = solve<double>(system.A, multigrid);
      const Multigrid::Statistics statistics = multigrid.statistics();
      std::printf("%-20s %8d  %9.0f %6d  %6d %6d %6.2f %8.1f %8.1f %6d  %6.0f\n", c.name.c_str(),
                  system.A.pattern().rows(), plain.solve_ms, plain.iterations, statistics.levels,
                  statistics.coarse_nodes, statistics.complexity, solved.set_ms, solved.solve_ms, solved.iterations,
                  static_cast<double>(statistics.bytes) / 1e6);
      std::fflush(stdout);
    }
}
