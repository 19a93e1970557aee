#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pliant/energies/energy.hpp"
#include "pliant/linalg/block_matrix.hpp"

namespace pliant {

/// Sums local evaluations of energies into a value, a gradient and a matrix, in parallel and with the same bits for any
/// number of threads. Chunks of stencils add up what they give in a buffer of their own; then every node
/// (every matrix block) collects what belongs to it in a fixed order. Colouring would save the buffer but walks the
/// mesh once per colour and must be redone when stencils change.
class Assembler {
 public:
  Assembler(Index nodes, const std::vector<const Energy*>& energies);
  ~Assembler();

  double value(const Pose& pose);
  /// Adds to g and returns the value, in one pass over the stencils.
  double add_gradient(const Pose& pose, VecX& g);
  /// The values of the stencils of one energy, as given, at the last evaluation.
  std::span<const double> values(std::size_t energy) const;
  /// Adds to A; where `scales` is given, each energy's share times its scale (an energy with the scale zero is not even
  /// evaluated). A may have another pattern than the last one, as it does when stencils change; all places are then
  /// looked up anew.
  void add_hessian(const Pose& pose, Projection projection, BlockMatrix& A, std::span<const double> scales = {});

 private:
  struct Part;
  void look_up_places(const std::shared_ptr<const BlockPattern>& pattern);

  Index nodes_;
  std::shared_ptr<const BlockPattern> pattern_;  ///< of the last matrix, kept so that no other takes its address
  std::vector<std::unique_ptr<Part>> parts_;
};

/// The pattern that couples the nodes of every stencil.
std::shared_ptr<const BlockPattern> coupling_pattern(Index nodes, std::span<const Energy* const> energies);

}  // namespace pliant
