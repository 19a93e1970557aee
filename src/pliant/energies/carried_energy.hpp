#pragma once

#include <memory>

#include "pliant/contact/contact_model.hpp"
#include "pliant/energies/contact_pair.hpp"
#include "pliant/energies/energy.hpp"

namespace pliant {

/// An energy of contact over positions, some of which nodes carry (ContactModel), as an energy over nodes: with y = W x
/// the gradient is W^T g and the Hessian W^T H W. Its stencils have up to eight nodes: of rigid bodies all four, which
/// two corners of a pair have in common.
class CarriedEnergy final : public Energy {
 public:
  /// Both stay where they are.
  CarriedEnergy(const Energy& of, const ContactModel& model) : of_(of), model_(model) {}

  /// Brings the stencils up to date with those of the energy, and the positions (m) it is evaluated at: whoever
  /// evaluates it says so before.
  void update(const VecX& positions);

  std::string_view name() const override { return of_.name(); }
  const Stencils& stencils() const override { return stencils_; }
  void evaluate(const Pose& pose, Range range, double* values, double* gradients) const override;
  void hessians(const Pose& pose, Range range, Projection projection, double* blocks) const override;
  std::int64_t revision() const override { return revision_; }

 private:
  /// A node's part in a corner of a stencil.
  struct Share {
    int corner, slot;
    double weight;
  };
  std::span<const Share> shares(Index stencil) const;

  const Energy& of_;
  const ContactModel& model_;
  const VecX* positions_ = nullptr;
  Stencils stencils_{static_cast<int>(kContactNodes), {}};
  std::vector<Share> shares_;
  std::vector<std::size_t> first_ = {0};  ///< of each stencil in shares_, and the end
  std::int64_t revision_ = -1;
};

}  // namespace pliant
