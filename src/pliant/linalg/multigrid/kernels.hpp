#pragma once

#include "pliant/linalg/multigrid/sparse_rows.hpp"

/// Vector code of the hierarchy, over ranges of rows. Every row has one writer, so that ranges may run in parallel in
/// any order. b is the number of unknowns of a node, 3 or 6.
namespace pliant::multigrid {

/// A symmetric matrix, both triangles by rows, blocks of b x b by columns; `inverse` approximates those of its diagonal
/// blocks.
struct MatrixView {
  int b;
  const std::int64_t* start;
  const Index* columns;
  const Real* values;
  const Real* inverse;
};

/// Blocks of b x 6, by rows.
struct RectangularView {
  int b;
  const std::int64_t* start;
  const Index* columns;
  const Real* values;
};

/// One step of a polynomial smoother: d = momentum d + gain D^{-1} (f - A x), y = x + d.
struct SmoothingStep {
  Real momentum, gain;
  const Real *f, *x;
  Real *d, *y;
};
void smooth(Range rows, const MatrixView& A, const SmoothingStep& step);
/// d = gain D^{-1} f, y = d: the first step, from zero.
void begin_smoothing(Range rows, const MatrixView& A, const SmoothingStep& step);
/// r = f - A x
void residual(Range rows, const MatrixView& A, const Real* f, const Real* x, Real* r);
/// Rows of P^T r, by the columns of P.
void restrict_to(Range coarse_rows, const RectangularView& P, const SparseColumns& columns, const Real* r, Real* out);
/// x += P e
void add_prolonged(Range rows, const RectangularView& P, const Real* e, Real* x);

/// Rows of P = (I - omega D^{-1} A) Q, with Q of one block a node. place[k] says which block of P's row takes block k
/// of A; own[i] which one is the group's of node i, -1 for none. `scratch` has room for the longest row of P in blocks
/// of b x 8.
void smooth_prolongation(Range rows, const MatrixView& A, const Real* Q, const std::int64_t* P_start,
                         const std::uint16_t* place, const std::int32_t* own, Real omega, Real* scratch,
                         Real* P_values);
/// Rows of A P. `position` has a number for each coarse node, which it may change.
void multiply_rows(Range rows, const MatrixView& A, const RectangularView& P, const SparseRows& AP, Index* position,
                   Real* scratch, Real* AP_values);
/// The upper triangle of the rows of P^T (A P), written to both. mirror[k] is where block k's transpose is.
void galerkin_rows(Range coarse_rows, const RectangularView& P, const SparseColumns& columns, const RectangularView& AP,
                   const SparseRows& coarse, const std::int64_t* mirror, Index* position, Real* scratch, Real* values);

}  // namespace pliant::multigrid
