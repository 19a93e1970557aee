// The heart is a tile of 12 x 4 numbers of C held in registers while the depth runs: with four lanes that is twelve
// accumulators, three vectors of A and one broadcast of B, all sixteen registers of AVX2, and three loads plus four
// broadcasts feed twelve fused multiply-adds. Wider vectors are capped to four lanes to keep one packing for all.
#include "pliant/linalg/front_kernels.hpp"

#include "pliant/math/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pliant/linalg/front_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pliant::dense {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<double, 4>;
using V = hn::Vec<D>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
constexpr int kRows = panel_rows;
constexpr int kVectors = kRows / kLanes;
constexpr int kColumns = 4;

/// acc[v][c] -= a b^T over the depth; a moves by twelve, b by `b_step`.
HWY_INLINE void accumulate(Index depth, const double* HWY_RESTRICT a, const double* HWY_RESTRICT b, int b_step,
                           V (&acc)[kVectors][kColumns]) {
  const D d;
  for (Index p = 0; p < depth; ++p) {
    V column[kVectors];
    for (int v = 0; v < kVectors; ++v) column[v] = hn::LoadU(d, a + v * kLanes);
    for (int c = 0; c < kColumns; ++c) {
      const V factor = hn::Set(d, b[c]);
      for (int v = 0; v < kVectors; ++v) acc[v][c] = hn::NegMulAdd(column[v], factor, acc[v][c]);
    }
    a += kRows;
    b += b_step;
  }
}

HWY_INLINE void subtract_tile(Index depth, const double* a, const double* b, double* c, std::int64_t stride) {
  const D d;
  V acc[kVectors][kColumns];
  for (int j = 0; j < kColumns; ++j) {
    __builtin_prefetch(c + j * stride);
    __builtin_prefetch(c + j * stride + kRows - 1);
  }
  for (int j = 0; j < kColumns; ++j) {
    for (int v = 0; v < kVectors; ++v) acc[v][j] = hn::Zero(d);
  }
  accumulate(depth, a, b, kRows, acc);
  for (int j = 0; j < kColumns; ++j) {
    for (int v = 0; v < kVectors; ++v) {
      double* target = c + j * stride + v * kLanes;
      hn::StoreU(hn::Add(hn::LoadU(d, target), acc[v][j]), d, target);
    }
  }
}

/// The same for a tile that reaches over the edge of C.
void subtract_edge(Index depth, const double* a, const double* b, double* c, std::int64_t stride, Index rows,
                   Index columns) {
  const D d;
  V acc[kVectors][kColumns];
  for (int j = 0; j < kColumns; ++j) {
    for (int v = 0; v < kVectors; ++v) acc[v][j] = hn::Zero(d);
  }
  accumulate(depth, a, b, kRows, acc);
  HWY_ALIGN double tile[kRows * kColumns];
  for (int j = 0; j < kColumns; ++j) {
    for (int v = 0; v < kVectors; ++v) hn::Store(acc[v][j], d, tile + j * kRows + v * kLanes);
  }
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) c[i + j * stride] += tile[i + j * kRows];
  }
}

void SubtractProduct(Index rows, Index columns, Index depth, const double* a, std::int64_t a_distance, const double* b,
                     std::int64_t b_distance, double* c, std::int64_t stride, bool lower) {
  for (Index j = 0; j < columns; j += kRows) {
    const double* right = b + j / kRows * b_distance;
    for (Index i = lower ? j : 0; i < rows; i += kRows) {
      const double* left = a + i / kRows * a_distance;
      double* target = c + i + j * stride;
      for (Index s = 0; s < kRows && j + s < columns; s += kColumns) {
        if (i + kRows <= rows && j + s + kColumns <= columns) {
          subtract_tile(depth, left, right + s, target + s * stride, stride);
        } else {
          const Index width = columns - j - s < kColumns ? columns - j - s : Index{kColumns};
          subtract_edge(depth, left, right + s, target + s * stride, stride, rows - i < kRows ? rows - i : Index{kRows},
                        width);
        }
      }
    }
  }
}

void PackPanel(Index rows, Index columns, const double* HWY_RESTRICT a, std::int64_t stride, const Index* order,
               double* HWY_RESTRICT packed) {
  const D d;
  for (Index p = 0; p < columns; ++p) {
    const double* column = a + (order ? order[p] : p) * stride;
    double* target = packed + std::int64_t(p) * kRows;
    if (rows == kRows) {
      for (int v = 0; v < kVectors; ++v) hn::StoreU(hn::LoadU(d, column + v * kLanes), d, target + v * kLanes);
    } else {
      for (Index i = 0; i < rows; ++i) target[i] = column[i];
      for (Index i = rows; i < kRows; ++i) target[i] = 0;
    }
  }
}

/// One packed panel X becomes X L^{-T}, four columns at a time: subtract what the columns to the left contribute, then
/// the 4 x 4 triangle in registers. The diagonal is stored as reciprocals.
HWY_INLINE void solve_panel(Index n, const double* HWY_RESTRICT triangle, double* HWY_RESTRICT x) {
  const D d;
  for (Index g = 0; g < n; g += kColumns) {
    double* group = x + std::int64_t(g) * kRows;
    V acc[kVectors][kColumns];
    for (int c = 0; c < kColumns; ++c) {
      for (int v = 0; v < kVectors; ++v) acc[v][c] = hn::LoadU(d, group + c * kRows + v * kLanes);
    }
    accumulate(g, x, triangle, kColumns, acc);
    const double* l = triangle + std::int64_t(g) * kColumns;
    for (int q = 0; q < kColumns; ++q) {
      const V reciprocal = hn::Set(d, l[q * kColumns + q]);
      for (int v = 0; v < kVectors; ++v) acc[v][q] = hn::Mul(acc[v][q], reciprocal);
      for (int c = q + 1; c < kColumns; ++c) {
        const V factor = hn::Set(d, l[q * kColumns + c]);
        for (int v = 0; v < kVectors; ++v) acc[v][c] = hn::NegMulAdd(acc[v][q], factor, acc[v][c]);
      }
    }
    for (int c = 0; c < kColumns; ++c) {
      for (int v = 0; v < kVectors; ++v) hn::StoreU(acc[v][c], d, group + c * kRows + v * kLanes);
    }
    triangle += std::int64_t(g + kColumns) * kColumns;
  }
}

void SolveRows(Index rows, Index n, const double* triangle, double* x, std::int64_t stride, double* packed,
               std::int64_t distance, const Index* order) {
  const D d;
  for (Index i = 0; i < rows; i += kRows, packed += distance) {
    const Index height = rows - i < kRows ? rows - i : Index{kRows};
    PackPanel(height, n, x + i, stride, order, packed);
    for (Index p = n * kRows; p < (n + 3) / 4 * 4 * kRows; ++p) packed[p] = 0;
    solve_panel(n, triangle, packed);
    for (Index p = 0; p < n; ++p) {
      const double* from = packed + std::int64_t(p) * kRows;
      double* to = x + i + p * stride;
      if (height == kRows) {
        for (int v = 0; v < kVectors; ++v) hn::StoreU(hn::LoadU(d, from + v * kLanes), d, to + v * kLanes);
      } else {
        for (Index r = 0; r < height; ++r) to[r] = from[r];
      }
    }
  }
}

/// Up to 12 x 12, left-looking by columns of three vectors; what is above the diagonal is zero on entry.
bool cholesky12(Index n, double* HWY_RESTRICT a) {
  const D d;
  for (Index j = 0; j < n; ++j) {
    V column[kVectors];
    for (int v = 0; v < kVectors; ++v) column[v] = hn::Load(d, a + j * kRows + v * kLanes);
    for (Index p = 0; p < j; ++p) {
      const V factor = hn::Set(d, a[j + p * kRows]);
      for (int v = 0; v < kVectors; ++v)
        column[v] = hn::NegMulAdd(hn::Load(d, a + p * kRows + v * kLanes), factor, column[v]);
    }
    for (int v = 0; v < kVectors; ++v) hn::Store(column[v], d, a + j * kRows + v * kLanes);
    const double pivot = a[j + j * kRows];
    if (!(pivot > 0)) return false;  // also when it is not a number
    const double root = __builtin_sqrt(pivot);
    const V scale = hn::Set(d, 1 / root);
    for (int v = 0; v < kVectors; ++v) hn::Store(hn::Mul(column[v], scale), d, a + j * kRows + v * kLanes);
    a[j + j * kRows] = root;
  }
  return true;
}

bool Cholesky(Index n, double* a, std::int64_t stride) {
  HWY_ALIGN double block[kRows * kRows];
  HWY_ALIGN double triangle[triangle_size(kRows)];
  HWY_ALIGN double packed[panels(cholesky_size) * kRows * kRows];
  for (Index j = 0; j < n; j += kRows) {
    const Index width = n - j < kRows ? n - j : Index{kRows}, rest = n - j - width;
    double* corner = a + j + j * stride;
    for (Index c = 0; c < width; ++c) {
      for (Index r = 0; r < kRows; ++r) block[r + c * kRows] = r >= c && r < width ? corner[r + c * stride] : 0;
    }
    if (!cholesky12(width, block)) return false;
    for (Index c = 0; c < width; ++c) {
      for (Index r = c; r < width; ++r) corner[r + c * stride] = block[r + c * kRows];
    }
    if (rest == 0) return true;
    pack_triangle(width, block, kRows, Diagonal::stored, triangle);
    SolveRows(rest, width, triangle, corner + width, stride, packed, kRows * kRows, nullptr);
    SubtractProduct(rest, rest, width, packed, kRows * kRows, packed, kRows * kRows, corner + width + width * stride,
                    stride, true);
  }
  return true;
}

}  // namespace HWY_NAMESPACE
}  // namespace pliant::dense
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant::dense {

HWY_EXPORT(SubtractProduct);
HWY_EXPORT(PackPanel);
HWY_EXPORT(SolveRows);
HWY_EXPORT(Cholesky);

void pack_triangle(Index n, const double* l, std::int64_t stride, Diagonal diagonal, double* triangle) {
  for (Index g = 0; g < n; g += 4) {
    for (Index p = 0; p < g + 4; ++p) {
      for (Index c = g; c < g + 4; ++c) {
        double entry = 0;
        if (c < n && p < c) entry = l[c + p * stride];
        if (c < n && p == c) entry = diagonal == Diagonal::unit ? 1.0 : 1 / l[c + p * stride];
        *triangle++ = entry;
      }
    }
  }
}

void solve_rows(Index rows, Index n, const double* triangle, double* x, std::int64_t stride, double* packed,
                std::int64_t distance, const Index* order) {
  HWY_DYNAMIC_DISPATCH(SolveRows)(rows, n, triangle, x, stride, packed, distance, order);
}

void pack_rows(Index rows, Index columns, const double* a, std::int64_t stride, double* packed, std::int64_t distance) {
  for (Index i = 0; i < rows; i += panel_rows, packed += distance) {
    HWY_DYNAMIC_DISPATCH(PackPanel)(std::min(rows - i, panel_rows), columns, a + i, stride, nullptr, packed);
  }
}

void subtract_product(Index rows, Index columns, Index depth, const double* a, std::int64_t a_distance, const double* b,
                      std::int64_t b_distance, double* c, std::int64_t stride, Part part) {
  if (depth == 0) return;
  HWY_DYNAMIC_DISPATCH(SubtractProduct)
  (rows, columns, depth, a, a_distance, b, b_distance, c, stride, part == Part::lower);
}

bool cholesky(Index n, double* a, std::int64_t stride) { return HWY_DYNAMIC_DISPATCH(Cholesky)(n, a, stride); }

}  // namespace pliant::dense
#endif
