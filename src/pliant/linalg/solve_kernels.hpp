#pragma once

#include <cstdint>

#include "pliant/linalg/front_kernels.hpp"
#include "pliant/math/types.hpp"

/// Kernels of forward and backward substitution with a panel of a factor, column-major, all in double or all in float.
/// A solution is bound by reading the factor once per direction, so each number of it is used for all right-hand sides
/// while it is in a register.
///
/// Values X of a front come in two layouts. Up to `few` right-hand sides: one array per right-hand side, `step` apart,
/// vectors run along the rows. More: one row per unknown with `step` numbers, a multiple of four, vectors run along the
/// right-hand sides.
namespace pliant::dense {

constexpr Index few = 3;
/// Columns of panels, and arrays of few right-hand sides, are padded to a multiple of this: whole vectors of any type.
constexpr Index row_padding = 8;

template <class T>
struct Values {
  T* data;
  Index count;        ///< right-hand sides; a multiple of four when there are more than `few`
  std::int64_t step;  ///< between right-hand sides (few) or between rows (many)

  Values from_row(Index row) const { return {data + (count <= few ? std::int64_t{row} : row * step), count, step}; }
};

struct Columns {
  Index begin;
  Index end;
};
struct Rows {
  Index begin;
  Index end;
};

/// A panel and the values of its front, for few right-hand sides. Row ranges end at a multiple of `row_padding`; what
/// lies between a front's last row and `stride` is zero in the panel and in the values.
template <class T>
struct PanelOfFew {
  const T* panel;
  std::int64_t stride;
  Diagonal diagonal;
  Values<T> values;

  /// The values of the columns become L^{-1} times them, the rows below up to `row_end` lose their part.
  void forward(Columns columns, Index row_end) const;
  /// The rows lose L times the values of the columns.
  void apply(Columns columns, Rows rows) const;
  /// The values of the columns lose L^T times those of the rows.
  void apply_transposed(Columns columns, Rows rows) const;
  /// The values of the columns lose their part of the rows below up to `row_end`, then become L^{-T} times the rest.
  void backward(Columns columns, Index row_end) const;
};

// Many right-hand sides.

/// X becomes L^{-1} X for the n rows of X; L is lower triangular n x n.
template <class T>
void solve_lower(Index n, const T* l, std::int64_t stride, Diagonal diagonal, const Values<T>& x);
/// X becomes L^{-T} X.
template <class T>
void solve_lower_transposed(Index n, const T* l, std::int64_t stride, Diagonal diagonal, const Values<T>& x);
/// Y -= L X with L of rows x columns.
template <class T>
void subtract_apply(Index rows, Index columns, const T* l, std::int64_t stride, const Values<T>& x, const Values<T>& y);
/// Y -= L^T X.
template <class T>
void subtract_apply_transposed(Index rows, Index columns, const T* l, std::int64_t stride, const Values<T>& x,
                               const Values<T>& y);

}  // namespace pliant::dense
