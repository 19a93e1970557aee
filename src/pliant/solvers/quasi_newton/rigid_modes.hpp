#pragma once

#include <span>

#include "pliant/energies/contact_pair.hpp"
#include "pliant/math/dense.hpp"
#include "pliant/sim/step_problem.hpp"
#include "pliant/sim/tie_term.hpp"
#include "pliant/solvers/quasi_newton/contact_springs.hpp"

namespace pliant {

/// What a scalar matrix gets wrong about bodies as wholes, put right (docs/quasi-newton.md, "Contact"). It resists
/// sliding as if it were pressing, and turning as if it were shearing. With Z the translations and infinitesimal
/// rotations of the bodies that nothing holds,
///
///   A^{-1} + Z (C^{-1} - G^{-1}) Z^T,   G = Z^T A Z,   C = Z^T (inertia + contact, direction by direction) Z,
///
/// which is positive definite since A^{-1} - Z G^{-1} Z^T has no negative eigenvalues whatever Z is.
class RigidModes {
 public:
  explicit RigidModes(const Model& model) : model_(model) {}

  /// Finds the bodies that neither pins nor scripts hold in this step, nor ties that do not slide, unless these lead
  /// to a rigid body: ties of bodies that are found are taken as they are.
  void begin_step(const StepProblem& problem);
  /// For another scalar matrix A + sum k w w^T, at x: takes the rigid motions about where bodies are now.
  void set_matrix(const VecX& x, const BlockMatrix& A, const ContactSprings& springs);
  /// Appends the ties of these bodies, as they are at x.
  void append_ties(const TieTerm& ties, const VecX& x, std::vector<ContactSpring>& springs) const;
  /// For contact as it is now, and ties, which may change from iteration to iteration.
  void set_springs(const StepProblem& problem, std::span<const ContactSpring> springs);
  /// r += Z (C^{-1} - G^{-1}) Z^T q
  void correct(const VecX& q, VecX& r);

 private:
  using Moments = Eigen::Matrix4d;  ///< sum_ij a_ij (1, r_i) (1, r_j)^T, r the arm of a node

  struct FreeBody {
    Range nodes;
    double mass_damping;  ///< 1/s
    Vec3 centre;          ///< of mass, where the modes were made, m
    Moments mass;         ///< of its lumped mass, kg, kg m, kg m^2
  };

  Eigen::MatrixXd matrix_modes(const BlockMatrix& A, const ContactSprings& springs) const;
  Eigen::MatrixXd exact_modes(const StepProblem& problem, std::span<const ContactSpring> springs) const;

  const Model& model_;
  std::vector<FreeBody> bodies_;
  std::vector<Index> body_of_;  ///< number of the free body of each node, or -1
  VecX arm_;                    ///< of each node from its body's centre, m
  VecX extended_;               ///< (1, arm) of each node of a free body; zero of others
  bool is_usable_ = false;      ///< C and G have factors
  DenseCholesky C_, G_;
  VecX force_, motion_;  ///< scratch: by body, six each
};

}  // namespace pliant
