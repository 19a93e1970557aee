#pragma once

#include <cstdint>

#include "pliant/linalg/front_kernels.hpp"
#include "pliant/math/types.hpp"

/// Kernels of forward and backward substitution with a panel of a factor (column-major, double or float; all arithmetic
/// is in double). A solution is bound by reading the factor once per direction, so each number of it is used for all
/// right-hand sides while it is in a register.
///
/// Values X of a front come in two layouts. Up to `few` right-hand sides: one array per right-hand side, `step` apart,
/// vectors run along the rows. More: one row per unknown with `step` numbers, a multiple of four, vectors run along the
/// right-hand sides.
namespace pliant::dense {

constexpr Index few = 4;

struct Values {
  double* data;
  Index count;        ///< right-hand sides; a multiple of four when there are more than `few`
  std::int64_t step;  ///< between right-hand sides (few) or between rows (many)

  Values from_row(Index row) const { return {data + (count <= few ? std::int64_t{row} : row * step), count, step}; }
};

/// X becomes L^{-1} X for the n rows of X; L is lower triangular n x n.
template <class T>
void solve_lower(Index n, const T* l, std::int64_t stride, Diagonal diagonal, const Values& x);
/// X becomes L^{-T} X.
template <class T>
void solve_lower_transposed(Index n, const T* l, std::int64_t stride, Diagonal diagonal, const Values& x);
/// Y -= L X with L of rows x columns.
template <class T>
void subtract_apply(Index rows, Index columns, const T* l, std::int64_t stride, const Values& x, const Values& y);
/// Y -= L^T X.
template <class T>
void subtract_apply_transposed(Index rows, Index columns, const T* l, std::int64_t stride, const Values& x,
                               const Values& y);

}  // namespace pliant::dense
