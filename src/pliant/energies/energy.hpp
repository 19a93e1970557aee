#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "pliant/materials/law.hpp"
#include "pliant/math/types.hpp"

namespace pliant {

/// Where an energy is evaluated: the positions, and what drives the model at this instant.
struct Pose {
  const VecX& x;                            ///< m
  std::span<const double> activation = {};  ///< of the model's muscles, 0 to 1; empty: all relaxed
  double time = 0;                          ///< s, where colliders are

  Pose(const VecX& positions, std::span<const double> activations = {}, double at = 0)
      : x(positions), activation(activations), time(at) {}
};

/// Groups of nodes that an energy couples, all of the same size. A node may be -1: a place that is no unknown of the
/// model, such as a corner of an obstacle, whose derivatives nobody collects.
struct Stencils {
  int size = 0;
  std::vector<Index> nodes;  ///< flat, `size` per stencil

  Index count() const { return size == 0 ? 0 : static_cast<Index>(nodes.size() / static_cast<std::size_t>(size)); }
  const Index* operator[](Index s) const { return nodes.data() + static_cast<std::ptrdiff_t>(s) * size; }
};

/// A potential that is a sum over equal stencils. An energy evaluates stencils locally, for ranges, without
/// synchronisation; assembly into the global vector and matrix is written once, in Assembler.
class Energy {
 public:
  virtual ~Energy() = default;
  virtual std::string_view name() const = 0;
  virtual const Stencils& stencils() const = 0;

  /// For stencils [range.begin, range.end): their values (J) and, unless `gradients` is null, their local gradients
  /// (N), 3 * size doubles each. Both outputs begin with the first stencil of the range. A value may be +infinity.
  virtual void evaluate(const Pose& pose, Range range, double* values, double* gradients) const = 0;

  /// For the same range the local Hessians (N/m): the blocks (a, b) with a <= b, ordered (0,0) (0,1) (1,1) (0,2) ...,
  /// that is block (a, b) at b (b + 1) / 2 + a, each nine doubles, column by column.
  virtual void hessians(const Pose& pose, Range range, Projection projection, double* blocks) const = 0;

  /// How many stencils to ask for in one call; 0 leaves it to the assembler. An energy with expensive calls, such as
  /// one evaluated in another language, wants all of them at once.
  virtual Index chunk() const { return 0; }

  /// Counts changes of the stencils, for energies whose stencils change, as those of contact do. Assemblers look at it
  /// before they evaluate.
  virtual std::int64_t revision() const { return 0; }

  /// The same stencils in an order of the energy's own that is quicker to walk; by default itself. Lives as long as it.
  virtual const Energy& in_memory_order() const { return *this; }
};

/// Blocks in a local Hessian of a stencil of `size` nodes.
constexpr int local_blocks(int size) { return size * (size + 1) / 2; }

}  // namespace pliant
