#include "pliant/energies/elastic_kernels.hpp"

#include "pliant/math/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pliant/energies/elastic_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "pliant/math/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pliant {
namespace HWY_NAMESPACE {

HWY_INLINE Matrix3 load_inverse_edges(const ElementGeometry& geometry, int lane) {
  Matrix3 B;
  for (int c = 0; c < 9; ++c) B.m[c] = Real::load(geometry.row[c] + lane);
  return B;
}

void deformation_gradient_batch(const NodeBatch& x, const double* gradients, int nodes, const ElementGeometry& geometry,
                                Batch9& F) {
  for (int lane = 0; lane < kBatch; lane += lanes()) {
    Matrix3 G;
    if (nodes == 4) {
      // Linear: the reference gradients are unit vectors, and x_0 is the origin.
      for (int c = 0; c < 9; ++c) G.m[c] = Real::load(x.row[3 + c] + lane);
    } else {
      for (int c = 0; c < 9; ++c) G.m[c] = 0.0;
      for (int a = 1; a < nodes; ++a) {
        for (int i = 0; i < 3; ++i) {
          const Real xi = Real::load(x.row[3 * a + i] + lane);
          for (int j = 0; j < 3; ++j) G(i, j) = mul_add(xi, gradients[3 * a + j], G(i, j));
        }
      }
    }
    store_matrix(G * load_inverse_edges(geometry, lane), F, lane);
  }
}

void add_energy_batch(const Batch<1>& psi, double weight, const ElementGeometry& geometry, Batch<1>& values) {
  for (int lane = 0; lane < kBatch; lane += lanes()) {
    const Real scale = Real(weight) * Real::load(geometry.row[9] + lane);
    (Real::load(values.row[0] + lane) + scale * Real::load(psi.row[0] + lane)).store(values.row[0] + lane);
  }
}

void add_forces_batch(const Batch9& P, double weight, const double* gradients, int nodes,
                      const ElementGeometry& geometry, NodeBatch& forces) {
  for (int lane = 0; lane < kBatch; lane += lanes()) {
    Matrix3 pulled = times_transpose(load_matrix(P, lane), load_inverse_edges(geometry, lane));
    const Real scale = Real(weight) * Real::load(geometry.row[9] + lane);
    for (int c = 0; c < 9; ++c) pulled.m[c] = pulled.m[c] * scale;
    for (int a = 0; a < nodes; ++a) {
      for (int i = 0; i < 3; ++i) {
        double* f = forces.row[3 * a + i] + lane;
        Real sum = Real::load(f);
        for (int j = 0; j < 3; ++j) sum = mul_add(pulled(i, j), gradients[3 * a + j], sum);
        sum.store(f);
      }
    }
  }
}

/// Entry of a packed symmetric 9x9 matrix, either triangle.
HWY_INLINE Real entry(const Batch45& H, int r, int c, int lane) {
  return Real::load(H.row[r <= c ? packed(r, c) : packed(c, r)] + lane);
}

void pull_back_hessian_batch(const Batch45& H, double weight, const ElementGeometry& geometry, Batch45& pulled) {
  for (int lane = 0; lane < kBatch; lane += lanes()) {
    const Matrix3 B = load_inverse_edges(geometry, lane);
    const Real scale = Real(weight) * Real::load(geometry.row[9] + lane);
    // First the columns: half_(m, l) = sum_n B(l, n) H_(m, n), then the rows, for one block column l at a time.
    for (int l = 0; l < 3; ++l) {
      const Real b[3] = {scale * B(l, 0), scale * B(l, 1), scale * B(l, 2)};
      Real half[9][3];
      for (int r = 0; r < 9; ++r) {
        for (int k = 0; k < 3; ++k) {
          half[r][k] = mul_add(b[2], entry(H, r, 6 + k, lane),
                               mul_add(b[1], entry(H, r, 3 + k, lane), b[0] * entry(H, r, k, lane)));
        }
      }
      for (int j = 0; j <= l; ++j) {
        for (int k = 0; k < 3; ++k) {
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

/// Nine vectors, one per entry of a block, to nine doubles of each element.
HWY_INLINE void write_block(const Real K[9], int lane, int first, int last, std::ptrdiff_t stride, double* block) {
  HWY_ALIGN double entries[9][kBatch];
  for (int c = 0; c < 9; ++c) K[c].store(entries[c]);
  for (int p = 0; p < lanes(); ++p) {
    if (lane + p < first || lane + p >= last) continue;
    double* out = block + (lane + p - first) * stride;
    for (int c = 0; c < 9; ++c) out[c] = entries[c][p];
  }
}

/// Order 1: the reference gradients are unit vectors for nodes 1 to 3, whose blocks are those of H' itself; node 0 is
/// minus their sum.
void write_linear_stiffness(const Batch45& H, int lane, int first, int last, double* blocks) {
  constexpr std::ptrdiff_t stride = 90;
  Real row0[3][9];  // K_0b for b = 1, 2, 3
  for (int b = 0; b < 3; ++b) {
    for (int c = 0; c < 9; ++c) row0[b][c] = 0.0;
    for (int a = 0; a < 3; ++a) {
      Real K[9];
      for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 3; ++i) K[3 * k + i] = entry(H, 3 * a + i, 3 * b + k, lane);
      }
      for (int c = 0; c < 9; ++c) row0[b][c] = row0[b][c] - K[c];
      if (a <= b) write_block(K, lane, first, last, stride, blocks + 9 * packed(a + 1, b + 1));
    }
    write_block(row0[b], lane, first, last, stride, blocks + 9 * packed(0, b + 1));
  }
  Real K[9];
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i <= k; ++i) {
      const int c = 3 * k + i;
      K[c] = -(row0[0][c] + row0[1][c] + row0[2][c]);
      K[3 * i + k] = K[c];
    }
  }
  write_block(K, lane, first, last, stride, blocks);
}

void write_stiffness_batch(const Batch45* pulled, const double* const* g, int points, int nodes, int first, int last,
                           double* blocks) {
  const std::ptrdiff_t stride = 9 * (nodes * (nodes + 1) / 2);
  for (int lane = 0; lane < kBatch; lane += lanes()) {
    if (lane + lanes() <= first || lane >= last) continue;
    if (nodes == 4) {
      write_linear_stiffness(pulled[0], lane, first, last, blocks);
      continue;
    }
    for (int b = 0; b < nodes; ++b) {
      // Column[q](r, k) = sum_l g_b,l H'(r, 3 l + k), then K_ab(i, k) = sum_q sum_j g_a,j Column[q](3 j + i, k).
      Real column[kMaxPoints][27];
      for (int q = 0; q < points; ++q) {
        const Real g0 = g[q][3 * b], g1 = g[q][3 * b + 1], g2 = g[q][3 * b + 2];
        for (int r = 0; r < 9; ++r) {
          for (int k = 0; k < 3; ++k) {
            column[q][3 * r + k] =
                mul_add(g2, entry(pulled[q], r, 6 + k, lane),
                        mul_add(g1, entry(pulled[q], r, 3 + k, lane), g0 * entry(pulled[q], r, k, lane)));
          }
        }
      }
      for (int a = 0; a <= b; ++a) {
        Real K[9];
        for (int c = 0; c < 9; ++c) K[c] = 0.0;
        for (int q = 0; q < points; ++q) {
          for (int j = 0; j < 3; ++j) {
            const Real ga = g[q][3 * a + j];
            for (int k = 0; k < 3; ++k) {
              for (int i = 0; i < 3; ++i) K[3 * k + i] = mul_add(ga, column[q][3 * (3 * j + i) + k], K[3 * k + i]);
            }
          }
        }
        write_block(K, lane, first, last, stride, blocks + 9 * packed(a, b));
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace pliant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(deformation_gradient_batch);
HWY_EXPORT(add_energy_batch);
HWY_EXPORT(add_forces_batch);
HWY_EXPORT(pull_back_hessian_batch);
HWY_EXPORT(write_stiffness_batch);

void gather_nodes(const double* x, const Index* offsets, int nodes, NodeBatch& out) {
  for (int i = 0; i < 3; ++i) {
    for (int p = 0; p < kBatch; ++p) out.row[i][p] = 0;
  }
  for (int a = 1; a < nodes; ++a) {
    for (int p = 0; p < kBatch; ++p) {
      const double* node = x + offsets[a * kBatch + p];
      const double* origin = x + offsets[p];
      for (int i = 0; i < 3; ++i) out.row[3 * a + i][p] = node[i] - origin[i];
    }
  }
}

void deformation_gradient(const NodeBatch& x, const double* gradients, int nodes, const ElementGeometry& geometry,
                          Batch9& F) {
  HWY_DYNAMIC_DISPATCH(deformation_gradient_batch)(x, gradients, nodes, geometry, F);
}

void add_energy(const Batch<1>& psi, double weight, const ElementGeometry& geometry, Batch<1>& values) {
  HWY_DYNAMIC_DISPATCH(add_energy_batch)(psi, weight, geometry, values);
}

void add_forces(const Batch9& P, double weight, const double* gradients, int nodes, const ElementGeometry& geometry,
                NodeBatch& forces) {
  HWY_DYNAMIC_DISPATCH(add_forces_batch)(P, weight, gradients, nodes, geometry, forces);
}

void pull_back_hessian(const Batch45& H, double weight, const ElementGeometry& geometry, Batch45& pulled) {
  HWY_DYNAMIC_DISPATCH(pull_back_hessian_batch)(H, weight, geometry, pulled);
}

void write_stiffness(const Batch45* pulled, const double* const* gradients, int points, int nodes, int first, int last,
                     double* blocks) {
  HWY_DYNAMIC_DISPATCH(write_stiffness_batch)(pulled, gradients, points, nodes, first, last, blocks);
}

}  // namespace pliant
#endif
