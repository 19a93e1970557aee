// Elements are kept along a space-filling curve, in batches of kBatch, the last batch filled up with copies of the last
// element: in_memory_order() walks them as they lie. Whoever asks for elements by their number in the mesh gets batches
// collected from wherever these are.
//
// A batch is always evaluated whole, and only the elements that were asked for are written: every lane computes by
// itself, so that an element's result has the same bits whatever the range it is part of.
#include "pliant/energies/elastic.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <sstream>

#include "pliant/base/error.hpp"
#include "pliant/energies/elastic_curve.hpp"
#include "pliant/energies/elastic_kernels.hpp"
#include "pliant/energies/elastic_projection.hpp"
#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

void require_one_or_each(std::size_t given, Index elements, const char* what) {
  if (given == 1 || given == static_cast<std::size_t>(elements)) return;
  std::ostringstream message;
  message << what << ": give one for the whole body or one per element (" << elements << "), got " << given;
  throw InputError(message.str());
}

template <class T>
const T& one_or_each(const std::vector<T>& list, std::size_t e) {
  return list.size() == 1 ? list[0] : list[e];
}

/// Column p of a batch of fibres.
void pack(const Fibres& fibres, std::size_t e, int p, FibreBatch& batch) {
  const Vec3& direction = one_or_each(fibres.directions, e);
  FibreParameters parameters = one_or_each(fibres.parameters, e);
  if (!direction.allFinite()) throw InputError("a fibre direction is not finite");
  const double length = direction.norm();
  if (length == 0) parameters = {0, parameters.shape, 0};
  for (int i = 0; i < 3; ++i) batch[i][p] = length > 0 ? direction[i] / length : 0;
  batch[3][p] = parameters.stiffness;
  batch[4][p] = parameters.shape;
  batch[5][p] = parameters.active_stress;
}

/// What a body's fibres have in common.
struct FibreGroup {
  std::shared_ptr<const FibreLaw> law;
  Index activation;

  double activation_in(const Pose& pose) const {
    return activation < 0 || pose.activation.empty() ? 0 : pose.activation[static_cast<std::size_t>(activation)];
  }
};

/// The data of a batch, wherever it lies.
struct BatchView {
  const ElementGeometry& geometry;
  const Batch<2>& lame;
  const Index* offsets;       ///< per local node and element: first unknown of the node
  const FibreBatch* fibres;   ///< of the first group
  std::ptrdiff_t fibre_step;  ///< to the next group
};

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

struct ElasticEnergy::Implementation {
  std::shared_ptr<const Law> law;
  std::vector<FibreGroup> groups;
  const ReferenceElement* reference;
  Stencils stencils;         ///< in the mesh's order
  Stencils sorted_stencils;  ///< along the curve
  std::vector<Index> order;  ///< order[place on the curve] is an element of the mesh
  std::vector<Index> place;  ///< place[element]
  // Per batch of elements along the curve:
  std::vector<ElementGeometry> geometry;
  std::vector<Batch<2>> lame;
  std::vector<FibreBatch> fibres;  ///< group by group
  std::vector<Index> offsets;
  std::vector<std::vector<double>> gradients;  ///< reference gradients at the quadrature points and, last, the centroid

  int nodes() const { return reference->nodes(); }
  int points() const { return reference->points(); }
  double weight(int point) const { return reference->weights()[static_cast<std::size_t>(point)]; }
  const double* gradient(int point) const { return gradients[static_cast<std::size_t>(point)].data(); }

  template <class Combine>
  std::vector<Index> over_inverted(const VecX& x, Index initial, Combine combine) const;

  BatchView view(std::size_t batch) const {
    return {geometry[batch], lame[batch], offsets.data() + batch * static_cast<std::size_t>(nodes() * kBatch),
            groups.empty() ? nullptr : fibres.data() + batch, static_cast<std::ptrdiff_t>(geometry.size())};
  }

  void stress(const Pose& pose, const BatchView& batch, const Batch9& F, Batch<1>& psi, Batch9& P) const {
    law->stress(F, batch.lame, psi, P);
    const FibreBatch* fibre = batch.fibres;
    for (const FibreGroup& group : groups) {
      add_fibre_stress(*group.law, F, *fibre, group.activation_in(pose), psi, P);
      fibre += batch.fibre_step;
    }
  }
  void hessian(const Pose& pose, const BatchView& batch, const Batch9& F, Projection projection, Batch45& H) const {
    law->hessian(F, batch.lame, projection, H);
    const FibreBatch* fibre = batch.fibres;
    for (const FibreGroup& group : groups) {
      add_fibre_hessian(*group.law, F, *fibre, group.activation_in(pose), projection, H);
      fibre += batch.fibre_step;
    }
  }

  /// Elements first to last - 1 of the batch.
  void evaluate(const Pose& pose, const BatchView& batch, int first, int last, double* values, double* forces) const {
    Batch9 F, P;
    Batch<1> psi;
    if (nodes() == 4) {
      linear_gradient(pose.x.data(), batch.offsets, batch.geometry, F);
      stress(pose, batch, F, psi, P);
      for (int p = first; p < last; ++p) values[p - first] = batch.geometry[9][p] * psi[0][p];
      if (forces) write_linear_forces(P, batch.geometry, first, last, forces);
      return;
    }
    NodeBatch x, f;
    gather_nodes(pose.x.data(), batch.offsets, nodes(), x);
    Batch<1> energy = {};
    for (int r = 0; r < 3 * nodes(); ++r) std::fill_n(f.row[r], kBatch, 0.0);
    for (int q = 0; q < points(); ++q) {
      deformation_gradient(x, gradient(q), nodes(), batch.geometry, F);
      stress(pose, batch, F, psi, P);
      add_energy(psi, weight(q), batch.geometry, energy);
      if (forces) add_forces(P, weight(q), gradient(q), nodes(), batch.geometry, f);
    }
    for (int p = first; p < last; ++p) values[p - first] = energy[0][p];
    if (forces) write_forces(f, nodes(), first, last, forces);
  }

  void hessians(const Pose& pose, const BatchView& batch, Projection projection, int first, int last,
                double* blocks) const {
    NodeBatch x;
    gather_nodes(pose.x.data(), batch.offsets, nodes(), x);
    Batch45 pulled[kMaxPoints];
    const double* tables[kMaxPoints];
    for (int q = 0; q < points(); ++q) {
      Batch9 F;
      Batch45 H;
      deformation_gradient(x, gradient(q), nodes(), batch.geometry, F);
      hessian(pose, batch, F, projection, H);
      tables[q] = gradient(q);
      pull_back_hessian(H, weight(q), batch.geometry, pulled[q]);
    }
    write_stiffness(pulled, tables, points(), nodes(), first, last, blocks);
    if (projection != Projection::numerical) return;
    const std::ptrdiff_t stride = 9 * local_blocks(nodes());
    for (int p = first; p < last; ++p) project_element(nodes(), blocks + (p - first) * stride);
  }

  /// Calls body(batch, count, done) for the elements of the mesh in the range, up to kBatch at a time.
  template <class Body>
  void for_elements(Range range, Body&& body) const {
    ElementGeometry some_geometry;
    Batch<2> some_lame;
    std::vector<FibreBatch> some_fibres(groups.size());
    Index some_offsets[kMaxNodes * kBatch];
    for (Index first = range.begin; first < range.end; first += kBatch) {
      const int count = std::min(kBatch, static_cast<int>(range.end - first));
      for (int p = 0; p < kBatch; ++p) {
        const Index at = place[static_cast<std::size_t>(first + std::min(p, count - 1))];
        const auto b = static_cast<std::size_t>(at / kBatch);
        const int lane = at % kBatch;
        for (int r = 0; r < 10; ++r) some_geometry[r][p] = geometry[b][r][lane];
        for (int r = 0; r < 2; ++r) some_lame[r][p] = lame[b][r][lane];
        for (std::size_t g = 0; g < groups.size(); ++g)
          for (int r = 0; r < 6; ++r) some_fibres[g][r][p] = fibres[g * geometry.size() + b][r][lane];
        const Index* from = view(b).offsets + lane;
        for (int a = 0; a < nodes(); ++a) some_offsets[a * kBatch + p] = from[a * kBatch];
      }
      body(BatchView{some_geometry, some_lame, some_offsets, some_fibres.data(), 1}, count, first - range.begin);
    }
  }
};

/// The same elements as they lie in memory.
class ElasticEnergy::Sorted final : public Energy {
 public:
  explicit Sorted(const Implementation& implementation) : self_(implementation) {}
  std::string_view name() const override { return "elastic"; }
  const Stencils& stencils() const override { return self_.sorted_stencils; }
  void evaluate(const Pose& pose, Range range, double* values, double* gradients) const override {
    const int unknowns = 3 * self_.nodes();
    for_batches(range, [&](std::size_t batch, int first, int last, std::ptrdiff_t done) {
      self_.evaluate(pose, self_.view(batch), first, last, values + done,
                     gradients ? gradients + done * unknowns : nullptr);
    });
  }
  void hessians(const Pose& pose, Range range, Projection projection, double* blocks) const override {
    const std::ptrdiff_t stride = 9 * local_blocks(self_.nodes());
    for_batches(range, [&](std::size_t batch, int first, int last, std::ptrdiff_t done) {
      self_.hessians(pose, self_.view(batch), projection, first, last, blocks + done * stride);
    });
  }

 private:
  const Implementation& self_;
};

ElasticEnergy::ElasticEnergy(const FeMesh& mesh, std::shared_ptr<const Law> law, std::vector<Lame> lame,
                             Index first_node, const std::vector<Fibres>& fibres)
    : implementation_(std::make_unique<Implementation>()) {
  Implementation& self = *implementation_;
  const Index count = mesh.element_count();
  require_one_or_each(lame.size(), count, "material parameters");
  for (const Fibres& group : fibres) {
    require_one_or_each(group.parameters.size(), count, "fibre parameters");
    require_one_or_each(group.directions.size(), count, "fibre directions");
    self.groups.push_back({group.law, group.activation});
  }
  self.law = std::move(law);
  self.reference = &mesh.reference();
  const int nodes = self.nodes();
  assert(nodes <= kMaxNodes && self.points() <= kMaxPoints);

  self.stencils.size = self.sorted_stencils.size = nodes;
  self.stencils.nodes.assign(mesh.elements().begin(), mesh.elements().end());
  for (Index& n : self.stencils.nodes) n += first_node;
  self.order = elements_along_curve(mesh);
  self.place.resize(self.order.size());
  self.sorted_stencils.nodes.reserve(self.stencils.nodes.size());
  for (Index k = 0; k < count; ++k) {
    const Index e = self.order[static_cast<std::size_t>(k)];
    self.place[static_cast<std::size_t>(e)] = k;
    self.sorted_stencils.nodes.insert(self.sorted_stencils.nodes.end(), self.stencils[e], self.stencils[e] + nodes);
  }

  const Index batches = (count + kBatch - 1) / kBatch;
  self.geometry.resize(static_cast<std::size_t>(batches));
  self.lame.resize(static_cast<std::size_t>(batches));
  self.fibres.resize(fibres.size() * static_cast<std::size_t>(batches));
  self.offsets.reserve(static_cast<std::size_t>(batches) * static_cast<std::size_t>(nodes * kBatch));
  for (Index batch = 0; batch < batches; ++batch) {
    const auto b = static_cast<std::size_t>(batch);
    const auto place = [&](int p) { return std::min(batch * kBatch + p, count - 1); };
    for (int p = 0; p < kBatch; ++p) {
      const auto e = static_cast<std::size_t>(self.order[static_cast<std::size_t>(place(p))]);
      for (int c = 0; c < 9; ++c) self.geometry[b][c][p] = mesh.inverse_edges()[e].data()[c];
      self.geometry[b][9][p] = mesh.volumes()[e];
      const Lame& l = one_or_each(lame, e);
      self.lame[b][0][p] = l.mu;
      self.lame[b][1][p] = l.lambda;
      for (std::size_t g = 0; g < fibres.size(); ++g)
        pack(fibres[g], e, p, self.fibres[g * static_cast<std::size_t>(batches) + b]);
    }
    for (int a = 0; a < nodes; ++a)
      for (int p = 0; p < kBatch; ++p) self.offsets.push_back(3 * self.sorted_stencils[place(p)][a]);
  }

  for (int q = 0; q <= self.points(); ++q) {
    const auto table = self.reference->shape_gradients(
        q < self.points() ? self.reference->points_positions()[static_cast<std::size_t>(q)]
                          : Vec3(Vec3::Constant(0.25)));
    self.gradients.emplace_back(table.data(), table.data() + table.size());
  }
  sorted_ = std::make_unique<Sorted>(self);
}

ElasticEnergy::~ElasticEnergy() = default;

const Stencils& ElasticEnergy::stencils() const { return implementation_->stencils; }
const Energy& ElasticEnergy::in_memory_order() const { return *sorted_; }
const Law& ElasticEnergy::law() const { return *implementation_->law; }

void ElasticEnergy::evaluate(const Pose& pose, Range range, double* values, double* gradients) const {
  const Implementation& self = *implementation_;
  const int unknowns = 3 * self.nodes();
  self.for_elements(range, [&](const BatchView& batch, int count, std::ptrdiff_t done) {
    self.evaluate(pose, batch, 0, count, values + done, gradients ? gradients + done * unknowns : nullptr);
  });
}

void ElasticEnergy::hessians(const Pose& pose, Range range, Projection projection, double* blocks) const {
  const Implementation& self = *implementation_;
  const std::ptrdiff_t stride = 9 * local_blocks(self.nodes());
  self.for_elements(range, [&](const BatchView& batch, int count, std::ptrdiff_t done) {
    self.hessians(pose, batch, projection, 0, count, blocks + done * stride);
  });
}

void ElasticEnergy::deformation_gradients(const VecX& x, Range range, Mat3* F) const { stresses(x, range, F, nullptr); }

void ElasticEnergy::stresses(const Pose& pose, Range range, Mat3* F, Mat3* P) const {
  const Implementation& self = *implementation_;
  self.for_elements(range, [&](const BatchView& batch, int count, std::ptrdiff_t done) {
    NodeBatch x;
    Batch9 gradients, stress;
    gather_nodes(pose.x.data(), batch.offsets, self.nodes(), x);
    deformation_gradient(x, self.gradient(self.points()), self.nodes(), batch.geometry, gradients);
    const auto write = [&](const Batch9& values, Mat3* to) {
      for (int p = 0; p < count; ++p)
        for (int c = 0; c < 9; ++c) to[done + p].data()[c] = values[c][p];
    };
    write(gradients, F);
    if (!P) return;
    Batch<1> psi;
    self.stress(pose, batch, gradients, psi, stress);
    write(stress, P);
  });
}

/// combine(chunk's result, element) for every element with det F <= 0 at one of its quadrature points; one result for
/// each chunk, from `initial` on.
template <class Combine>
std::vector<Index> ElasticEnergy::Implementation::over_inverted(const VecX& x, Index initial, Combine combine) const {
  constexpr Index kGrain = 64 * kBatch;
  const Index count = stencils.count();
  std::vector<Index> found(static_cast<std::size_t>((count + kGrain - 1) / kGrain), initial);
  for_chunks(count, kGrain, [&](Index begin, Index end) {
    Index& result = found[static_cast<std::size_t>(begin / kGrain)];
    for_batches({begin, end}, [&](std::size_t batch, int first, int last, std::ptrdiff_t) {
      const BatchView batch_view = view(batch);
      NodeBatch positions;
      gather_nodes(x.data(), batch_view.offsets, nodes(), positions);
      bool inverted[kBatch] = {};
      for (int q = 0; q < points(); ++q) {
        Batch9 F;
        deformation_gradient(positions, gradient(q), nodes(), batch_view.geometry, F);
        for (int p = 0; p < kBatch; ++p) {
          const double J = F[0][p] * (F[4][p] * F[8][p] - F[5][p] * F[7][p]) +
                           F[1][p] * (F[5][p] * F[6][p] - F[3][p] * F[8][p]) +
                           F[2][p] * (F[3][p] * F[7][p] - F[4][p] * F[6][p]);
          inverted[p] |= !(J > 0);
        }
      }
      for (int p = first; p < last; ++p)
        if (inverted[p]) result = combine(result, order[batch * kBatch + static_cast<std::size_t>(p)]);
    });
  });
  return found;
}

Index ElasticEnergy::first_inverted(const VecX& x) const {
  const Index count = implementation_->stencils.count();
  const std::vector<Index> found =
      implementation_->over_inverted(x, count, [](Index first, Index e) { return std::min(first, e); });
  const Index first = found.empty() ? count : *std::min_element(found.begin(), found.end());
  return first < count ? first : -1;
}

Index ElasticEnergy::count_inverted(const VecX& x) const {
  const std::vector<Index> found = implementation_->over_inverted(x, 0, [](Index sum, Index) { return sum + 1; });
  return std::accumulate(found.begin(), found.end(), Index{0});
}

}  // namespace pliant
