#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pliant/mesh/colouring.hpp"
#include "pliant/sim/model.hpp"

namespace pliant::pbd {

/// Which formulas an element is updated by.
enum class LocalLaw {
  corotated,           ///< fixed corotated; ARAP with lambda = 0
  macklin_mueller,     ///< Neo-Hookean of Macklin and Mueller 2021
  stable_neo_hookean,  ///< of Smith, de Goes and Kim 2018
  any,                 ///< by the law's own stress and Hessian, with its fibres
};

/// The laws that can be written as one constraint for shape and one for volume.
std::vector<std::string> laws_of_two_constraints();

/// Bodies that share a law and have no fibres, or one body with fibres: their elements may share a batch.
struct ElementGroup {
  std::string bodies;  ///< names, for messages
  std::shared_ptr<const Law> law;
  LocalLaw kind = LocalLaw::any;
  const std::vector<Fibres>* fibres = nullptr;  ///< of the model's body; null without
  double damping = 0;                           ///< of the stiffness, s
};

/// kBatch elements of one colour and group side by side. The last of a colour repeats elements to fill up; only the
/// first `count` are written back.
struct ElementBatch {
  Index nodes[4][kBatch];  ///< global node numbers
  Batch<9> B;              ///< inverse rest edges: F = [x1 - x0, x2 - x0, x3 - x0] B
  Batch<1> volume;         ///< m^3
  Batch<2> lame;           ///< mu, lambda; Pa
  /// A = sum_i w_i g_i g_i^T, packed, 1/(kg m^2): how the inverse masses w_i of the unknowns resist or follow a stress,
  /// with g_i the gradient of F by unknown i. x_i += w_i Q g_i changes F by Q A.
  Batch<6> metric;
  /// A, and in elements so thin that its eigenvalues are far apart a multiple of 1 beside it: what FP-PXPBD solves for
  /// stresses with (docs/pxpbd.md, "Slivers").
  Batch<6> round_metric;
  Index elements[kBatch];
  int count = 0;
  int group = 0;

  /// Writes both metrics of a lane.
  void set_metric(int lane, const Mat3& A);
};

/// Linear tetrahedra of all bodies of a model, in colour order. What the model may be made of is for SolverSupport to
/// say: solids of order 1.
class Elements {
 public:
  explicit Elements(const Model& model);

  Index count() const { return static_cast<Index>(volume_.size()); }
  const std::vector<ElementGroup>& groups() const { return groups_; }
  std::span<const Index> nodes(Index e) const { return {nodes_.data() + 4 * static_cast<std::size_t>(e), 4}; }
  const Mat3& inverse_edges(Index e) const { return B_[static_cast<std::size_t>(e)]; }
  double volume(Index e) const { return volume_[static_cast<std::size_t>(e)]; }
  const Lame& lame(Index e) const { return lame_[static_cast<std::size_t>(e)]; }
  int group(Index e) const { return group_[static_cast<std::size_t>(e)]; }
  /// The element's number in its own body, by which fibres are looked up.
  Index local_index(Index e) const { return local_[static_cast<std::size_t>(e)]; }
  /// Gradient of F by the position of corner a: F = sum x_a g_a^T.
  Vec3 gradient(Index e, int a) const;
  /// F of a batch at any positions, corner by corner; sweeps use gather_gradients.
  void gradients_at(const VecX& x, const ElementBatch& batch, Batch9& F) const;

  /// Sorts elements into batches by the given colours.
  void sort(std::span<const Index> colours);
  /// How often that happened: whoever keeps data by batch must make it anew.
  int sorts() const { return sorts_; }
  Index colours() const { return static_cast<Index>(colour_start_.size()) - 1; }
  /// Batches of one colour.
  Range colour(Index c) const {
    return {colour_start_[static_cast<std::size_t>(c)], colour_start_[static_cast<std::size_t>(c) + 1]};
  }
  std::vector<ElementBatch>& batches() { return batches_; }
  const std::vector<ElementBatch>& batches() const { return batches_; }

  /// Greedy colours by the tetrahedra's own nodes.
  std::vector<Index> mesh_colours(Index node_count) const;
  /// Writes the metric of every element from the inverse masses of its corners, 1/kg, one per node.
  void set_metric(std::span<const double> inverse_mass);

 private:
  std::vector<ElementGroup> groups_;
  std::vector<Index> nodes_;
  std::vector<Mat3> B_;
  std::vector<double> volume_;
  std::vector<Lame> lame_;
  std::vector<int> group_;
  std::vector<Index> local_;
  std::vector<ElementBatch> batches_;
  std::vector<Index> colour_start_;
  int sorts_ = 0;
};

/// kappa = h^2 V 2 mu lambda_max(A) of each lane: what decides how fast local updates converge (docs/pxpbd.md).
void stiffness_numbers(const ElementBatch& batch, double h2, double* kappa);

}  // namespace pliant::pbd
