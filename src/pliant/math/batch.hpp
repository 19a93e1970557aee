#pragma once

namespace pliant {

/// Points are evaluated this many at once; data is laid out component by component ("structure of arrays"), so that
/// component c of point p is row[c][p]. Two AVX-512, four AVX2 vectors or eight of SSE4.
inline constexpr int kBatch = 16;

/// `Rows` components of kBatch points.
template <int Rows>
struct alignas(64) Batch {
  double row[Rows][kBatch];
  double* operator[](int c) { return row[c]; }
  const double* operator[](int c) const { return row[c]; }
};

/// 3x3 matrices of a batch: entry (i, j) is row 3 j + i (column by column, as Eigen stores it).
using Batch9 = Batch<9>;
/// Symmetric 9x9 matrices of a batch, upper triangle: entry (r, c) with r <= c is row c (c + 1) / 2 + r.
using Batch45 = Batch<45>;

/// Row of entry (r, c), r <= c, in the packed upper triangle of a symmetric matrix.
constexpr int packed(int r, int c) { return c * (c + 1) / 2 + r; }
/// The same for either triangle.
constexpr int packed_any(int r, int c) { return r <= c ? packed(r, c) : packed(c, r); }

}  // namespace pliant
