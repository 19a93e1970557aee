// Elements are handled in batches of kBatch neighbours in the mesh's order, the last batch filled up with copies of the
// last element. A batch is always evaluated whole, and only the elements that were asked for are written: every lane
// computes by itself, so that an element's result has the same bits whatever the range it is part of.
#include "pliant/energies/elastic.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <sstream>

#include "pliant/energies/elastic_kernels.hpp"
#include "pliant/energies/elastic_projection.hpp"
#include "pliant/math/error.hpp"
#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

/// Fibres, packed by batches of elements.
struct FibreGroup {
  std::shared_ptr<const FibreLaw> law;
  std::vector<FibreBatch> batches;
  Index activation;

  double activation_in(const Pose& pose) const {
    return activation < 0 || pose.activation.empty() ? 0 : pose.activation[static_cast<std::size_t>(activation)];
  }
};

void require_one_or_each(std::size_t given, Index elements, const char* what) {
  if (given == 1 || given == static_cast<std::size_t>(elements)) return;
  std::ostringstream message;
  message << what << ": give one for the whole body or one per element (" << elements << "), got " << given;
  throw InputError(message.str());
}

FibreGroup pack(const Fibres& fibres, Index elements) {
  require_one_or_each(fibres.parameters.size(), elements, "fibre parameters");
  require_one_or_each(fibres.directions.size(), elements, "fibre directions");
  FibreGroup group{fibres.law, {}, fibres.activation};
  group.batches.resize(static_cast<std::size_t>((elements + kBatch - 1) / kBatch));
  for (std::size_t b = 0; b < group.batches.size(); ++b) {
    for (int p = 0; p < kBatch; ++p) {
      const auto e = static_cast<std::size_t>(std::min(static_cast<Index>(b) * kBatch + p, elements - 1));
      const Vec3& direction = fibres.directions[fibres.directions.size() == 1 ? 0 : e];
      FibreParameters parameters = fibres.parameters[fibres.parameters.size() == 1 ? 0 : e];
      if (!direction.allFinite()) throw InputError("a fibre direction is not finite");
      const double length = direction.norm();
      if (length == 0) parameters = {0, parameters.shape, 0};
      for (int i = 0; i < 3; ++i) group.batches[b][i][p] = length > 0 ? direction[i] / length : 0;
      group.batches[b][3][p] = parameters.stiffness;
      group.batches[b][4][p] = parameters.shape;
      group.batches[b][5][p] = parameters.active_stress;
    }
  }
  return group;
}

}  // namespace

struct ElasticEnergy::Implementation {
  std::shared_ptr<const Law> law;
  const ReferenceElement* reference;
  Stencils stencils;
  std::vector<ElementGeometry> geometry;  ///< per batch
  std::vector<Batch<2>> lame;             ///< per batch
  std::vector<FibreGroup> fibres;
  std::vector<Index> offsets;  ///< per batch, local node and element of the batch: first unknown of the node
  std::vector<std::vector<double>> gradients;  ///< reference gradients at the quadrature points and, last, the centroid

  int nodes() const { return reference->nodes(); }
  int points() const { return reference->points(); }
  double weight(int point) const { return reference->weights()[static_cast<std::size_t>(point)]; }
  const double* gradient(int point) const { return gradients[static_cast<std::size_t>(point)].data(); }

  void stress(const Pose& pose, std::size_t batch, const Batch9& F, Batch<1>& psi, Batch9& P) const {
    law->stress(F, lame[batch], psi, P);
    for (const FibreGroup& group : fibres)
      add_fibre_stress(*group.law, F, group.batches[batch], group.activation_in(pose), psi, P);
  }
  void hessian(const Pose& pose, std::size_t batch, const Batch9& F, Projection projection, Batch45& H) const {
    law->hessian(F, lame[batch], projection, H);
    for (const FibreGroup& group : fibres)
      add_fibre_hessian(*group.law, F, group.batches[batch], group.activation_in(pose), projection, H);
  }
  void gather(const VecX& x, Index batch, NodeBatch& out) const {
    gather_nodes(x.data(),
                 offsets.data() + static_cast<std::size_t>(batch) * static_cast<std::size_t>(nodes() * kBatch), nodes(),
                 out);
  }
};

namespace {

/// Calls body(batch, first, last, done) for the batches that meet the range: elements first to last - 1 of the batch
/// are wanted and `done` elements of the range come before them.
template <class Body>
void for_batches(Range range, Body&& body) {
  for (Index e = range.begin; e < range.end;) {
    const Index batch = e / kBatch;
    const int first = static_cast<int>(e - batch * kBatch);
    const int last = static_cast<int>(std::min<Index>(range.end - batch * kBatch, kBatch));
    body(static_cast<std::size_t>(batch), first, last, static_cast<std::ptrdiff_t>(e - range.begin));
    e += last - first;
  }
}

}  // namespace

ElasticEnergy::ElasticEnergy(const FeMesh& mesh, std::shared_ptr<const Law> law, std::vector<Lame> lame,
                             Index first_node, const std::vector<Fibres>& fibres)
    : implementation_(std::make_unique<Implementation>()) {
  Implementation& self = *implementation_;
  const Index count = mesh.element_count();
  require_one_or_each(lame.size(), count, "material parameters");
  for (const Fibres& group : fibres) self.fibres.push_back(pack(group, count));
  self.law = std::move(law);
  self.reference = &mesh.reference();
  const int nodes = self.nodes();
  assert(nodes <= kMaxNodes && self.points() <= kMaxPoints);

  self.stencils.size = nodes;
  self.stencils.nodes.assign(mesh.elements().begin(), mesh.elements().end());
  for (Index& n : self.stencils.nodes) n += first_node;

  const Index batches = (count + kBatch - 1) / kBatch;
  self.geometry.resize(static_cast<std::size_t>(batches));
  self.lame.resize(static_cast<std::size_t>(batches));
  self.offsets.reserve(static_cast<std::size_t>(batches) * static_cast<std::size_t>(nodes * kBatch));
  for (Index batch = 0; batch < batches; ++batch) {
    const auto b = static_cast<std::size_t>(batch);
    std::array<std::size_t, kBatch> element;
    for (int p = 0; p < kBatch; ++p) {
      element[static_cast<std::size_t>(p)] = static_cast<std::size_t>(std::min(batch * kBatch + p, count - 1));
    }
    for (int p = 0; p < kBatch; ++p) {
      const std::size_t e = element[static_cast<std::size_t>(p)];
      for (int c = 0; c < 9; ++c) self.geometry[b][c][p] = mesh.inverse_edges()[e].data()[c];
      self.geometry[b][9][p] = mesh.volumes()[e];
      const Lame& l = lame.size() == 1 ? lame[0] : lame[e];
      self.lame[b][0][p] = l.mu;
      self.lame[b][1][p] = l.lambda;
    }
    for (int a = 0; a < nodes; ++a) {
      for (std::size_t e : element) self.offsets.push_back(3 * self.stencils[static_cast<Index>(e)][a]);
    }
  }

  for (int q = 0; q <= self.points(); ++q) {
    const auto table = self.reference->shape_gradients(
        q < self.points() ? self.reference->points_positions()[static_cast<std::size_t>(q)]
                          : Vec3(Vec3::Constant(0.25)));
    self.gradients.emplace_back(table.data(), table.data() + table.size());
  }
}

ElasticEnergy::~ElasticEnergy() = default;

const Stencils& ElasticEnergy::stencils() const { return implementation_->stencils; }
const Law& ElasticEnergy::law() const { return *implementation_->law; }

void ElasticEnergy::evaluate(const Pose& pose, Range range, double* values, double* gradients) const {
  const Implementation& self = *implementation_;
  const int unknowns = 3 * self.nodes();
  for_batches(range, [&](std::size_t batch, int first, int last, std::ptrdiff_t done) {
    NodeBatch nodes, forces;
    self.gather(pose.x, static_cast<Index>(batch), nodes);
    Batch<1> energy = {};
    for (int r = 0; r < unknowns && self.points() > 1; ++r) std::fill_n(forces.row[r], kBatch, 0.0);
    for (int q = 0; q < self.points(); ++q) {
      Batch9 F, P;
      Batch<1> psi;
      deformation_gradient(nodes, self.gradient(q), self.nodes(), self.geometry[batch], F);
      self.stress(pose, batch, F, psi, P);
      add_energy(psi, self.weight(q), self.geometry[batch], energy);
      if (gradients) add_forces(P, self.weight(q), self.gradient(q), self.nodes(), self.geometry[batch], forces);
    }
    for (int p = first; p < last; ++p) values[done + p - first] = energy[0][p];
    if (gradients) write_forces(forces, self.nodes(), first, last, gradients + done * unknowns);
  });
}

void ElasticEnergy::hessians(const Pose& pose, Range range, Projection projection, double* blocks) const {
  const Implementation& self = *implementation_;
  const std::ptrdiff_t stride = 9 * local_blocks(self.nodes());
  for_batches(range, [&](std::size_t batch, int first, int last, std::ptrdiff_t done) {
    NodeBatch nodes;
    self.gather(pose.x, static_cast<Index>(batch), nodes);
    Batch45 pulled[kMaxPoints];
    const double* tables[kMaxPoints];
    for (int q = 0; q < self.points(); ++q) {
      Batch9 F;
      Batch45 H;
      deformation_gradient(nodes, self.gradient(q), self.nodes(), self.geometry[batch], F);
      self.hessian(pose, batch, F, projection, H);
      tables[q] = self.gradient(q);
      pull_back_hessian(H, self.weight(q), self.geometry[batch], pulled[q]);
    }
    double* out = blocks + done * stride;
    write_stiffness(pulled, tables, self.points(), self.nodes(), first, last, out);
    if (projection != Projection::numerical) return;
    for (int p = first; p < last; ++p) project_element(self.nodes(), out + (p - first) * stride);
  });
}

void ElasticEnergy::deformation_gradients(const VecX& x, Range range, Mat3* F) const {
  const Implementation& self = *implementation_;
  for_batches(range, [&](std::size_t batch, int first, int last, std::ptrdiff_t done) {
    NodeBatch nodes;
    Batch9 values;
    self.gather(x, static_cast<Index>(batch), nodes);
    deformation_gradient(nodes, self.gradient(self.points()), self.nodes(), self.geometry[batch], values);
    for (int p = first; p < last; ++p) {
      for (int c = 0; c < 9; ++c) F[done + p - first].data()[c] = values[c][p];
    }
  });
}

void ElasticEnergy::stresses(const Pose& pose, Range range, Mat3* F, Mat3* P) const {
  const Implementation& self = *implementation_;
  for_batches(range, [&](std::size_t batch, int first, int last, std::ptrdiff_t done) {
    NodeBatch nodes;
    Batch9 gradients, stress;
    Batch<1> psi;
    self.gather(pose.x, static_cast<Index>(batch), nodes);
    deformation_gradient(nodes, self.gradient(self.points()), self.nodes(), self.geometry[batch], gradients);
    self.stress(pose, batch, gradients, psi, stress);
    for (int p = first; p < last; ++p) {
      for (int c = 0; c < 9; ++c) {
        F[done + p - first].data()[c] = gradients[c][p];
        P[done + p - first].data()[c] = stress[c][p];
      }
    }
  });
}

Index ElasticEnergy::first_inverted(const VecX& x) const {
  const Implementation& self = *implementation_;
  constexpr Index kGrain = 64 * kBatch;
  const Index count = self.stencils.count();
  std::vector<Index> found(static_cast<std::size_t>((count + kGrain - 1) / kGrain), -1);
  for_chunks(count, kGrain, [&](Index begin, Index end) {
    Index& result = found[static_cast<std::size_t>(begin / kGrain)];
    for_batches({begin, end}, [&](std::size_t batch, int first, int last, std::ptrdiff_t) {
      if (result >= 0) return;
      NodeBatch nodes;
      self.gather(x, static_cast<Index>(batch), nodes);
      bool inverted[kBatch] = {};
      for (int q = 0; q < self.points(); ++q) {
        Batch9 F;
        deformation_gradient(nodes, self.gradient(q), self.nodes(), self.geometry[batch], F);
        for (int p = 0; p < kBatch; ++p) {
          const double J = F[0][p] * (F[4][p] * F[8][p] - F[5][p] * F[7][p]) +
                           F[1][p] * (F[5][p] * F[6][p] - F[3][p] * F[8][p]) +
                           F[2][p] * (F[3][p] * F[7][p] - F[4][p] * F[6][p]);
          inverted[p] |= !(J > 0);
        }
      }
      for (int p = first; p < last && result < 0; ++p) {
        if (inverted[p]) result = static_cast<Index>(batch) * kBatch + p;
      }
    });
  });
  const auto hit = std::find_if(found.begin(), found.end(), [](Index e) { return e >= 0; });
  return hit == found.end() ? -1 : *hit;
}

}  // namespace pliant
