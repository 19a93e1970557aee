#pragma once

#include <petscksp.h>

#include <vector>

#include "pliant/distributed/petsc_level.hpp"

namespace pliant {

/// Multigrid by smoothed aggregation for matrices whose rows are spread over processes: the V-cycle of one machine
/// (linalg/multigrid), on the same groups but for those that would lie across two processes. PETSc's own, GAMG, groups
/// by the graph alone, scales by the diagonal's numbers and not its blocks, and takes two to four times as many
/// iterations on real meshes (docs/scale.md).
///
/// Groups are made anew for every matrix, and so nothing depends on those before.
class PetscMultigrid {
 public:
  PetscMultigrid() = default;
  PetscMultigrid(const PetscMultigrid&) = delete;
  PetscMultigrid& operator=(const PetscMultigrid&) = delete;
  ~PetscMultigrid();

  /// For this matrix of three unknowns a node, which stays the caller's; positions of the nodes of this process.
  void set(Mat A, const VecX& positions);
  /// Makes it the preconditioner of a solver.
  void attach(PC preconditioner);
  bool empty() const { return levels_.empty(); }
  void clear();

  struct Statistics {
    int levels = 0;
    double nodes = 0;       ///< of the second level
    double complexity = 0;  ///< numbers in all matrices over those of the finest
  };
  /// All processes call it together.
  Statistics statistics() const;

 private:
  static PetscErrorCode apply(PC preconditioner, Vec r, Vec z);
  void cycle(std::size_t level);

  std::vector<PetscLevel> levels_;
  KSP coarsest_ = nullptr;
};

}  // namespace pliant
