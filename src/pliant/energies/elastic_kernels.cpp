#include "pliant/energies/elastic_kernels.hpp"
#include "pliant/math/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pliant/energies/elastic_kernels.cpp"
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

void gather_nodes_batch(const double* x, const Index* offsets, int nodes, NodeBatch& out) {
  for (int lane = 0; lane < kBatch; lane += lanes()) {
    for (int i = 0; i < 3; ++i) Real(0.0).store(out.row[i] + lane);
    for (int a = 1; a < nodes; ++a) {
      Real differences[3];
      read_differences(x, offsets + a * kBatch, offsets, lane, differences);
      for (int i = 0; i < 3; ++i) differences[i].store(out.row[3 * a + i] + lane);
    }
  }
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
    if (nodes == 4) {
      // Linear: one point; forces of nodes 1 to 3 are the columns of P', node 0 has minus their sum.
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) pulled(i, j).store(forces.row[3 + 3 * j + i] + lane);
        (-(pulled(i, 0) + pulled(i, 1) + pulled(i, 2))).store(forces.row[i] + lane);
      }
      continue;
    }
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

void linear_gradient_batch(const double* x, const Index* offsets, const ElementGeometry& geometry, Batch9& F) {
  for (int lane = 0; lane < kBatch; lane += lanes()) {
    Matrix3 G;
    read_edges(x, offsets, lane, G);
    store_matrix(G * load_inverse_edges(geometry, lane), F, lane);
  }
}

void write_linear_forces_batch(const Batch9& P, const ElementGeometry& geometry, int first, int last, double* out) {
  for (int lane = 0; lane < kBatch; lane += lanes()) {
    if (lane + lanes() <= first || lane >= last) continue;
    Matrix3 pulled = times_transpose(load_matrix(P, lane), load_inverse_edges(geometry, lane));
    const Real volume = Real::load(geometry.row[9] + lane);
    Real f[12];
    for (int c = 0; c < 9; ++c) f[3 + c] = pulled.m[c] * volume;
    for (int i = 0; i < 3; ++i) f[i] = -(f[3 + i] + f[6 + i] + f[9 + i]);
    const Elements elements{lane, first, last, 12};
    double* element = out + (lane - first) * 12;
    if (elements.four()) {
      for (int c = 0; c < 12; c += 4) write_four(f[c], f[c + 1], f[c + 2], f[c + 3], elements, element + c);
    } else {
      for (int c = 0; c < 12; ++c) write_one(f[c], elements, element + c);
    }
  }
}

void write_forces_batch(const NodeBatch& forces, int nodes, int first, int last, double* out) {
  const int count = 3 * nodes;
  for (int lane = 0; lane < kBatch; lane += lanes()) {
    if (lane + lanes() <= first || lane >= last) continue;
    const Elements elements{lane, first, last, count};
    double* element = out + (lane - first) * count;
    int c = 0;
    if (elements.four()) {
      for (; c + 4 <= count; c += 4) {
        write_four(Real::load(forces.row[c] + lane), Real::load(forces.row[c + 1] + lane),
                   Real::load(forces.row[c + 2] + lane), Real::load(forces.row[c + 3] + lane), elements, element + c);
      }
    }
    for (; c < count; ++c) write_one(Real::load(forces.row[c] + lane), elements, element + c);
  }
}

/// Four numbers at once, of which the last is the next corner's.
void add_corners_at_places(const double* g, const Index* place, std::ptrdiff_t corners, double* at) {
  const hn::CappedTag<double, 4> d;
  const int step = static_cast<int>(hn::Lanes(d));
  for (std::ptrdiff_t k = 0; k < corners; ++k, g += 3) {
    double* to = at + 4 * static_cast<std::ptrdiff_t>(place[k]);
    for (int i = 0; i < 4; i += step) hn::StoreU(hn::Add(hn::LoadU(d, to + i), hn::LoadU(d, g + i)), d, to + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace pliant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(gather_nodes_batch);
HWY_EXPORT(deformation_gradient_batch);
HWY_EXPORT(add_energy_batch);
HWY_EXPORT(add_forces_batch);
HWY_EXPORT(write_forces_batch);
HWY_EXPORT(linear_gradient_batch);
HWY_EXPORT(write_linear_forces_batch);
HWY_EXPORT(add_corners_at_places);

void gather_nodes(const double* x, const Index* offsets, int nodes, NodeBatch& out) {
  HWY_DYNAMIC_DISPATCH(gather_nodes_batch)(x, offsets, nodes, out);
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

void write_forces(const NodeBatch& forces, int nodes, int first, int last, double* out) {
  HWY_DYNAMIC_DISPATCH(write_forces_batch)(forces, nodes, first, last, out);
}

void linear_gradient(const double* x, const Index* offsets, const ElementGeometry& geometry, Batch9& F) {
  HWY_DYNAMIC_DISPATCH(linear_gradient_batch)(x, offsets, geometry, F);
}

void write_linear_forces(const Batch9& P, const ElementGeometry& geometry, int first, int last, double* out) {
  HWY_DYNAMIC_DISPATCH(write_linear_forces_batch)(P, geometry, first, last, out);
}

void add_corners(const double* g, const Index* place, std::ptrdiff_t corners, double* at) {
  HWY_DYNAMIC_DISPATCH(add_corners_at_places)(g, place, corners, at);
}

}  // namespace pliant
#endif
