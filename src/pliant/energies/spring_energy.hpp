#pragma once

#include "pliant/energies/energy.hpp"

namespace pliant {

/// Springs between pairs of nodes: k/2 (l - r)^2 each.
class SpringEnergy final : public Energy {
 public:
  /// `ends`: two nodes per spring; stiffness k in N/m and rest length r in m, one each. A rest length of zero is a
  /// spring that pulls its ends together.
  SpringEnergy(std::vector<Index> ends, std::vector<double> stiffness, std::vector<double> rest_length);

  std::string_view name() const override { return "springs"; }
  const Stencils& stencils() const override { return stencils_; }
  void evaluate(const Pose& pose, Range range, double* values, double* gradients) const override;
  void hessians(const Pose& pose, Range range, Projection projection, double* blocks) const override;

  std::span<const double> stiffness() const { return stiffness_; }
  std::span<const double> rest_length() const { return rest_length_; }

 private:
  Stencils stencils_;
  std::vector<double> stiffness_, rest_length_;
};

}  // namespace pliant
