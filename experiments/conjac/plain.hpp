#pragma once

#include "experiments/conjac/trial.hpp"
#include "pliant/linalg/sparse_cholesky.hpp"

namespace pliant::experiments {

/// Algorithm 1 of conjac as a textbook would have it, with the exact K_qq, to try what the solver does not have: the
/// term of Eq. (9) with the rate of J, an explicit integrator, corrections with a fresh K, and constraints by
/// multipliers. For bodies alone: no colliders, damping or links; lumped mass.
class PlainConjac {
 public:
  struct Options {
    double beta = 0.5, gamma = 1.0 / 3;
    bool rate_of_J = false;            ///< with -M J' v_d, J' by differences
    bool explicitly = false;           ///< J^T M J v_d' = J^T f
    int corrections = 1;               ///< a step
    bool fresh = false;                ///< each with a new K
    std::vector<Index> on_plane = {};  ///< nodes whose y velocity multipliers keep at zero
    double floor = 0;                  ///< stiffness of a floor at y = 0 per mass of a node, 1/s^2; 0: none
    bool floor_in_K = true;
    bool falls = false;  ///< nothing holds the body: corrections in its frame, as in the solver, not as if hung up
  };
  PlainConjac(std::shared_ptr<const Model> model, std::vector<Index> dynamic, Options options);

  /// False when the matrix cannot be factorised or the result is not finite; the state is then as it was.
  bool step(State& state, double h);
  /// K_qq and J where the state is, for the boundary at its time. False when K_qq is singular.
  bool linearise(const State& state);
  const Eigen::MatrixXd& J() const { return J_; }
  /// Forces on quasistatic nodes, and the largest that the elements put on any node, N.
  struct Imbalance {
    double of_quasistatic = 0, largest_internal = 0;
  };
  Imbalance imbalance(const State& state);
  /// Where the quasistatic nodes balance for the dynamic ones as they are, by Newton's method; not finite if it fails.
  VecX balanced(const State& state);

 private:
  void set_boundary(double time, const VecX& x, double h);
  bool factor(const VecX& x);
  void forces(const VecX& x, VecX& f);
  /// Less what accelerates the body from one state to the next.
  void take_off_acceleration(const State& before, const State& after, double h, VecX& f) const;
  VecX over_q(VecX f) const { return f.cwiseProduct(is_q_); }

  std::shared_ptr<const Model> model_;
  std::vector<Index> dynamic_;
  Options options_;
  Assembler assembler_;
  BlockMatrix H_, of_q_;
  SparseCholesky cholesky_;
  std::vector<std::uint8_t> fixed_, not_q_;
  VecX is_q_, mass_, v_boundary_, x_boundary_;
  Eigen::MatrixXd J_, last_J_;
};

/// The nodes that conjac would choose.
std::vector<Index> placed_nodes(const Model& model, int count, std::int64_t seed = 0);

}  // namespace pliant::experiments
