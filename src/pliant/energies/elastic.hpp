#pragma once

#include <memory>

#include "pliant/energies/energy.hpp"
#include "pliant/fem/fe_mesh.hpp"

namespace pliant {

/// The elastic energy of a body: a law integrated over the elements of an FeMesh.
class ElasticEnergy final : public Energy {
 public:
  /// `lame` has one entry, or one per element. Node i of the mesh is node first_node + i of x.
  ElasticEnergy(const FeMesh& mesh, std::shared_ptr<const Law> law, std::vector<Lame> lame, Index first_node);
  ~ElasticEnergy() override;

  std::string_view name() const override { return "elastic"; }
  const Stencils& stencils() const override;
  void evaluate(const VecX& x, Range range, double* values, double* gradients) const override;
  void hessians(const VecX& x, Range range, Projection projection, double* blocks) const override;

  const Law& law() const;
  /// Deformation gradients at the element centroids (for frames: stretch, stress), one per element of the range.
  void deformation_gradients(const VecX& x, Range range, Mat3* F) const;
  /// The first element with det F <= 0 at one of its quadrature points, or -1.
  Index first_inverted(const VecX& x) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace pliant
