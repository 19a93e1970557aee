#pragma once

#include <memory>

#include "pliant/energies/energy.hpp"
#include "pliant/fem/fe_mesh.hpp"
#include "pliant/materials/fibre.hpp"

namespace pliant {

/// Fibres that run through a body.
struct Fibres {
  std::shared_ptr<const FibreLaw> law;
  std::vector<FibreParameters> parameters;  ///< one, or one per element
  std::vector<Vec3> directions;             ///< at rest, any length: one, or one per element; zero: no fibre there
  Index activation = -1;                    ///< which of Pose::activation drives them; -1: none
};

/// The elastic energy of a body: an isotropic law and any number of fibre laws, integrated over the elements of an
/// FeMesh.
class ElasticEnergy final : public Energy {
 public:
  /// `lame` has one entry, or one per element. Node i of the mesh is node first_node + i of x.
  ElasticEnergy(const FeMesh& mesh, std::shared_ptr<const Law> law, std::vector<Lame> lame, Index first_node,
                const std::vector<Fibres>& fibres = {});
  ~ElasticEnergy() override;

  std::string_view name() const override { return "elastic"; }
  const Stencils& stencils() const override;
  void evaluate(const Pose& pose, Range range, double* values, double* gradients) const override;
  void hessians(const Pose& pose, Range range, Projection projection, double* blocks) const override;

  const Energy& in_memory_order() const override;

  const Law& law() const;
  /// Deformation gradients at the element centroids (for frames: stretch, stress), one per element of the range.
  void deformation_gradients(const VecX& x, Range range, Mat3* F) const;
  /// The same with the first Piola stresses P of the law and all fibres, Pa (none where P is null).
  void stresses(const Pose& pose, Range range, Mat3* F, Mat3* P) const;
  /// The first element with det F <= 0 at one of its quadrature points, or -1.
  Index first_inverted(const VecX& x) const;
  /// How many there are.
  Index count_inverted(const VecX& x) const;

 private:
  struct Implementation;
  class Sorted;
  std::unique_ptr<Implementation> implementation_;
  std::unique_ptr<Energy> sorted_;
};

}  // namespace pliant
