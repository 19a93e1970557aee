#pragma once

#include <cmath>

#include "pliant/energies/assembler.hpp"
#include "pliant/energies/elastic.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/read_mesh.hpp"
#include "pliant/mesh/tet_mesh.hpp"

/// Matrices of the benchmarks of direct and iterative solvers.
namespace pliant {

/// A beam of proportions 2:1:1 with about so many vertices.
inline TetMesh beam_mesh(int nodes, double slenderness = 2) {
  const int n = std::max(1, static_cast<int>(std::lround(std::cbrt(nodes / slenderness))) - 1);
  const auto length = static_cast<Index>(std::lround(slenderness * n));
  return TetMesh(box({.size = {slenderness, 1, 1}, .cells = {length, n, n}, .split = BoxSplit::five}));
}

/// Hessian of a step of 1/60 s: lumped mass / h^2 + elastic stiffness (Neo-Hookean, E = 4e5 Pa) at positions x.
inline BlockMatrix stiffness_and_mass(const TetMesh& mesh, const VecX& x, double young = 4e5) {
  const FeMesh fe(mesh, 1);
  const ElasticEnergy energy(fe, find_law("neo-hookean"), {lame_from_young(young, 0.4)}, 0);
  const Energy* pointer = &energy;
  const auto pattern = coupling_pattern(fe.node_count(), std::span(&pointer, 1));
  Assembler assembler(fe.node_count(), {&energy});
  BlockMatrix A(pattern, 3);
  assembler.add_hessian(x, Projection::none, A);
  const double inertia = 1000 * mesh.total_volume() / fe.node_count() * 3600;
  for (Index i = 0; i < fe.node_count(); ++i)
    for (int e : {0, 4, 8}) A.block(pattern->diagonal(i))[e] += inertia;
  return A;
}

inline VecX positions(const TetMesh& mesh) {
  VecX x(3 * static_cast<Eigen::Index>(mesh.vertices().size()));
  for (std::size_t i = 0; i < mesh.vertices().size(); ++i) node(x, static_cast<Index>(i)) = mesh.vertices()[i];
  return x;
}

inline BlockMatrix stiffness_and_mass(const TetMesh& mesh) { return stiffness_and_mass(mesh, positions(mesh)); }

/// The same coupling in scalars: the graph Laplacian plus a tenth.
inline BlockMatrix laplacian(const TetMesh& mesh) {
  std::vector<Index> corners;
  for (const Tet& tet : mesh.tets()) corners.insert(corners.end(), tet.begin(), tet.end());
  const BlockPattern::Cliques cliques[] = {{corners, 4}};
  BlockMatrix A(std::make_shared<const BlockPattern>(static_cast<Index>(mesh.vertices().size()), cliques), 1);
  const BlockPattern& p = A.pattern();
  for (Index i = 0; i < p.rows(); ++i) *A.block(p.diagonal(i)) = 0.1;
  for (Index i = 0; i < p.rows(); ++i) {
    for (std::int64_t k = p.diagonal(i) + 1; k < p.row_start()[static_cast<std::size_t>(i) + 1]; ++k) {
      *A.block(k) = -1;
      *A.block(p.diagonal(i)) += 1;
      *A.block(p.diagonal(p.columns()[static_cast<std::size_t>(k)])) += 1;
    }
  }
  return A;
}

}  // namespace pliant
