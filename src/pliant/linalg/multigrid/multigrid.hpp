#pragma once

#include <memory>

#include "pliant/linalg/multigrid/level.hpp"
#include "pliant/linalg/preconditioner.hpp"

namespace pliant {

/// Algebraic multigrid by smoothed aggregation (Vanek, Mandel and Brezina 1996) for elasticity in blocks of 3 x 3: a
/// V-cycle whose coarse unknowns are the six rigid motions of groups of nodes. docs/multigrid.md has the method.
///
/// The groups are chosen once, from the matrix and the positions given first; so nothing that is computed depends on
/// the matrices in between. Later matrices may have other patterns over the same nodes.
class Multigrid final : public Preconditioner<double> {
 public:
  /// Three unknowns a node; rest: the matrix by whose entries nodes are grouped.
  Multigrid(const BlockMatrix& rest, const VecX& positions);
  ~Multigrid() override;

  /// Of the nodes when set() is called next: rigid motions depend on them.
  void set_positions(const VecX& positions);
  void set(const BlockProduct<double>& A) override;
  void apply(const VecX& r, VecX& z) override;

  struct Statistics {
    int levels = 0;
    Index coarse_nodes = 0;      ///< of the second level
    double complexity = 0;       ///< numbers in all matrices over those of the finest
    std::int64_t bytes = 0;      ///< of the matrices and prolongations
    double set_up_products = 0;  ///< of two numbers, in making the coarse matrices
  };
  Statistics statistics() const;

 private:
  struct Coarsest;
  void take_values(const BlockProduct<double>& A);
  void take_pattern(const BlockProduct<double>& A);
  void cycle(std::size_t level);

  std::shared_ptr<const BlockPattern> pattern_;  ///< that the finest level follows
  std::vector<multigrid::Level> levels_;
  std::unique_ptr<Coarsest> coarsest_;
};

}  // namespace pliant
