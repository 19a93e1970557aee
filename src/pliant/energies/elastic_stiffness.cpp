#include <cassert>

#include "pliant/energies/elastic_kernels.hpp"
#include "pliant/math/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pliant/energies/elastic_stiffness.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "pliant/energies/elastic_layout-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pliant {
namespace HWY_NAMESPACE {

HWY_INLINE Matrix3 load_inverse_edges(const ElementGeometry& geometry, int lane) {
  Matrix3 B;
  for (int c = 0; c < 9; ++c) B.m[c] = Real::load(geometry.row[c] + lane);
  return B;
}

/// Entry of a packed symmetric 9x9 matrix, either triangle.
HWY_INLINE Real entry(const Batch45& H, int r, int c, int lane) { return Real::load(H.row[packed_any(r, c)] + lane); }

void pull_back_hessian_batch(const Batch45& H, double weight, const ElementGeometry& geometry, Batch45& pulled) {
  for (int lane = 0; lane < kBatch; lane += lanes()) {
    const Matrix3 B = load_inverse_edges(geometry, lane);
    const Real scale = Real(weight) * Real::load(geometry.row[9] + lane);
    // First the columns: half_(m, l) = sum_n B(l, n) H_(m, n), then the rows, for one block column l at a time.
#pragma GCC unroll 3
    for (int l = 0; l < 3; ++l) {
      const Real b[3] = {scale * B(l, 0), scale * B(l, 1), scale * B(l, 2)};
      Real half[9][3];
#pragma GCC unroll 9
      for (int r = 0; r < 9; ++r) {
        for (int k = 0; k < 3; ++k) {
          half[r][k] = mul_add(b[2], entry(H, r, 6 + k, lane),
                               mul_add(b[1], entry(H, r, 3 + k, lane), b[0] * entry(H, r, k, lane)));
        }
      }
#pragma GCC unroll 3
      for (int j = 0; j <= l; ++j) {
#pragma GCC unroll 3
        for (int k = 0; k < 3; ++k) {
#pragma GCC unroll 3
          for (int i = 0; i < 3; ++i) {
            if (3 * j + i > 3 * l + k) continue;
            mul_add(B(j, 2), half[6 + i][k], mul_add(B(j, 1), half[3 + i][k], B(j, 0) * half[i][k]))
                .store(pulled.row[packed(3 * j + i, 3 * l + k)] + lane);
          }
        }
      }
    }
  }
}

/// Writes one 3x3 block, a vector per entry.
HWY_INLINE void write_block(const Real K[9], const Elements& elements, double* block) {
  if (elements.four()) {
    write_four(K[0], K[1], K[2], K[3], elements, block);
    write_four(K[4], K[5], K[6], K[7], elements, block + 4);
    HWY_ALIGN double last[kBatch];
    K[8].store(last);
    for (int p = 0; p < 4; ++p) block[p * elements.stride + 8] = last[p];
    return;
  }
  for (int c = 0; c < 9; ++c) write_one(K[c], elements, block + c);
}

/// Order 1: the reference gradients are unit vectors for nodes 1 to 3, whose blocks are those of H' itself; node 0 is
/// minus their sum.
HWY_INLINE void write_linear_stiffness(const Batch45& H, const Elements& elements, double* blocks) {
  const int lane = elements.lane;
  Real corner[9];  // K_00
  for (int c = 0; c < 9; ++c) corner[c] = 0.0;
#pragma GCC unroll 3
  for (int b = 0; b < 3; ++b) {
    Real row[9];  // K_0b
    for (int c = 0; c < 9; ++c) row[c] = 0.0;
#pragma GCC unroll 3
    for (int a = 0; a < 3; ++a) {
      Real K[9];
#pragma GCC unroll 9
      for (int c = 0; c < 9; ++c) K[c] = entry(H, 3 * a + c % 3, 3 * b + c / 3, lane);
      for (int c = 0; c < 9; ++c) row[c] = row[c] - K[c];
      if (a <= b) write_block(K, elements, blocks + 9 * packed(a + 1, b + 1));
    }
    for (int c = 0; c < 9; ++c) corner[c] = corner[c] - row[c];
    write_block(row, elements, blocks + 9 * packed(0, b + 1));
  }
  for (int c = 0; c < 9; ++c) {
    if (c / 3 < c % 3) corner[c] = corner[3 * (c % 3) + c / 3];  // rounding must not make it unsymmetric
  }
  write_block(corner, elements, blocks);
}

constexpr int kTile = 4;

/// K_ab for the nodes a, a + 1, ..., a + Rows - 1: a product of a constant matrix g (3 points by nodes, one row per
/// point and direction) with one of vectors C (3 points by 9), in register tiles of up to four nodes by three entries:
/// seven loads for twelve fused multiplications.
template <int Rows>
HWY_INLINE void multiply_tile(const double (*g)[kMaxNodes], int a, const Real (*C)[9], int depth, Real (*K)[9]) {
  for (int k = 0; k < 3; ++k) {
    Real sum[Rows][3];
#pragma GCC unroll 4
    for (int t = 0; t < Rows; ++t) {
#pragma GCC unroll 3
      for (int i = 0; i < 3; ++i) sum[t][i] = 0.0;
    }
    for (int row = 0; row < depth; ++row) {
      const Real c0 = C[row][3 * k], c1 = C[row][3 * k + 1], c2 = C[row][3 * k + 2];
#pragma GCC unroll 4
      for (int t = 0; t < Rows; ++t) {
        const Real ga = g[row][a + t];
        sum[t][0] = mul_add(ga, c0, sum[t][0]);
        sum[t][1] = mul_add(ga, c1, sum[t][1]);
        sum[t][2] = mul_add(ga, c2, sum[t][2]);
      }
    }
#pragma GCC unroll 4
    for (int t = 0; t < Rows; ++t) {
#pragma GCC unroll 3
      for (int i = 0; i < 3; ++i) K[t][3 * k + i] = sum[t][i];
    }
  }
}

/// Higher order. For one node b, C_q(j; i, k) = sum_l g_b,l H'_(3 j + i)(3 l + k); then K_ab(i, k) = sum_(q, j) g_a,j
/// C_q(j; i, k).
void write_higher_stiffness(const Batch45* pulled, const double* const* g, int points, int nodes,
                            const Elements& elements, double* blocks) {
  assert(points > 0 && points <= kMaxPoints && nodes <= kMaxNodes && nodes % 2 == 0);
  const int lane = elements.lane;
  double transposed[3 * kMaxPoints][kMaxNodes];
  for (int q = 0; q < points; ++q) {
    for (int j = 0; j < 3; ++j) {
      for (int a = 0; a < nodes; ++a) transposed[3 * q + j][a] = g[q][3 * a + j];
    }
  }
  // Every node b reads all of H': a copy of this vector's lanes alone fits into the first-level cache.
  Real H[kMaxPoints][45];
  for (int q = 0; q < points; ++q) {
    for (int c = 0; c < 45; ++c) H[q][c] = Real::load(pulled[q].row[c] + lane);
  }
  for (int pair = 0; pair < nodes; pair += 2) {  // of nodes b, so that H' is read half as often
    Real C[2][3 * kMaxPoints][9];                // entry (i, k) at 3 k + i
    for (int q = 0; q < points; ++q) {
      for (int n = 0; n < 2; ++n) {
        const double* gb = g[q] + 3 * (pair + n);
        const Real g0 = gb[0], g1 = gb[1], g2 = gb[2];
#pragma GCC unroll 3
        for (int j = 0; j < 3; ++j) {
#pragma GCC unroll 9
          for (int c = 0; c < 9; ++c) {
            const int r = 3 * j + c % 3, k = c / 3;
            C[n][3 * q + j][c] = mul_add(g2, H[q][packed_any(r, 6 + k)],
                                         mul_add(g1, H[q][packed_any(r, 3 + k)], g0 * H[q][packed_any(r, k)]));
          }
        }
      }
    }
    for (int n = 0; n < 2; ++n) {
      const int b = pair + n;
      for (int a = 0; a <= b; a += kTile) {
        const int rows = b + 1 - a < kTile ? b + 1 - a : kTile;
        Real K[kTile][9];
        switch (rows) {
          case 1:
            multiply_tile<1>(transposed, a, C[n], 3 * points, K);
            break;
          case 2:
            multiply_tile<2>(transposed, a, C[n], 3 * points, K);
            break;
          case 3:
            multiply_tile<3>(transposed, a, C[n], 3 * points, K);
            break;
          default:
            multiply_tile<4>(transposed, a, C[n], 3 * points, K);
        }
        for (int t = 0; t < rows; ++t) write_block(K[t], elements, blocks + 9 * packed(a + t, b));
      }
    }
  }
}

void write_stiffness_batch(const Batch45* pulled, const double* const* g, int points, int nodes, int first, int last,
                           double* blocks) {
  const std::ptrdiff_t stride = 9 * (nodes * (nodes + 1) / 2);
  for (int lane = 0; lane < kBatch; lane += lanes()) {
    if (lane + lanes() <= first || lane >= last) continue;
    const Elements elements{lane, first, last, stride};
    double* out = blocks + (lane - first) * stride;
    if (nodes == 4) {
      write_linear_stiffness(pulled[0], elements, out);
    } else {
      write_higher_stiffness(pulled, g, points, nodes, elements, out);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace pliant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(pull_back_hessian_batch);
HWY_EXPORT(write_stiffness_batch);

void pull_back_hessian(const Batch45& H, double weight, const ElementGeometry& geometry, Batch45& pulled) {
  HWY_DYNAMIC_DISPATCH(pull_back_hessian_batch)(H, weight, geometry, pulled);
}

void write_stiffness(const Batch45* pulled, const double* const* gradients, int points, int nodes, int first, int last,
                     double* blocks) {
  HWY_DYNAMIC_DISPATCH(write_stiffness_batch)(pulled, gradients, points, nodes, first, last, blocks);
}

}  // namespace pliant
#endif
