#pragma once

#include "pliant/math/types.hpp"

namespace pliant {

/// A front in scalars: the panel is (pivots + rows) x pivots with its stride, the update an update_block of `rows`.
struct Front {
  Index pivots = 0;
  Index rows = 0;
  double* panel = nullptr;
  std::int64_t stride = 0;
  double* update = nullptr;
  bool parallel = false;  ///< large enough to be worth tiling among threads
};

/// Makes a tile of the update ready to be subtracted from, just before it is: it is then in the cache. Scalar rows and
/// columns of the update; the tile's part above the diagonal does not matter.
struct TilePreparation {
  virtual ~TilePreparation() = default;
  virtual void prepare(Range rows, Range columns) = 0;
};

/// Numbers of workspace eliminate_llt needs.
std::size_t llt_workspace(Index pivots, Index rows);
/// The panel becomes L, and L_below L_below^T is subtracted from the update. False at the first pivot that is not
/// positive; the front is then of no use.
bool eliminate_llt(const Front& front, double* workspace, TilePreparation* preparation);

/// What an L D L^T keeps beside the panel, for the pivots of one front: D's diagonal is on the panel's.
struct LdltPivots {
  Index* order;         ///< row of the pivot block eliminated k-th
  double* off_diagonal; /**< D(k+1, k) where k and k+1 are a 2x2 pivot, else 0 */
};
struct LdltCount {
  Index negative = 0;
  Index zero = 0;
  Index perturbed = 0;
};
std::size_t ldlt_workspace(Index pivots, Index rows);
/// As eliminate_llt, with bounded Bunch-Kaufman pivoting inside the pivot block (Ashcraft, Grimes, Lewis 1998; LAPACK's
/// dsytrf_rk). A pivot too small against the rows below it, which pivoting cannot reach, is enlarged until the
/// multipliers stay below 1e8; one that is negligible with its whole column counts as zero. `scale` is the size of the
/// matrix' entries.
LdltCount eliminate_ldlt(const Front& front, const LdltPivots& pivots, double scale, double* workspace,
                         TilePreparation* preparation);

}  // namespace pliant
