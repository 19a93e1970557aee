#pragma once

#include "pliant/math/dense.hpp"
#include "pliant/sim/rank_one.hpp"
#include "pliant/solvers/conjac/dynamic_nodes.hpp"
#include "pliant/solvers/conjac/linearly_implicit_stepper.hpp"

namespace pliant {

/// How quasistatic nodes are brought back to where their forces balance (conjac, section 3.3).
struct StabilisationOptions {
  double gamma = 1.0 / 3;  ///< share of a Newton correction that is applied
  int corrections =
      1;  ///< a step; later ones see new forces, but the same matrix, and are halved until the energy falls
  /// Corrections in full in place of gamma, with new forces each, halved until the energy falls.
  bool line_search = false;
};

struct ConjacOptions {
  double beta = 0.5;  ///< weight of the stiffness in the dynamic equations
  StiffnessKind stiffness = StiffnessKind::on_demand;
  double tangential = 0;  ///< share of the contact stiffness along the surface
  DynamicNodeOptions dynamic;
  StabilisationOptions stabilisation;
  bool initial_solve = false;  ///< Newton to quasistatic balance before the first step
  Turning turning = Turning::exact;
  Safeguard safeguard = Safeguard::newton;
  ContactSolveOptions contact;
};

/// conjac, Algorithm 1. A few dynamic nodes d carry the motion; all others, q, follow as if at rest:
///
///   J_qd = -H_qq^{-1} H_qd,   J = [I; J_qd],   J^T (M + h D + beta h^2 H) J v_d = J^T (M v0 + h f),
///   v_q = J_qd v_d,   x_d += h v_d,   x_q += h v_q + gamma H_qq^{-1} f_q.
///
/// Joints of rigid links are dynamic too: nodes attached to links move with columns of the joints' velocities, and J
/// has columns for these. Beyond the paper: unknowns whose motion is prescribed, damping, and pieces that nothing would
/// hold (docs/conjac.md).
class ConjacStepper final : public Stepper {
 public:
  ConjacStepper(std::shared_ptr<const Model> model, const ConjacOptions& options);

  std::string_view name() const override { return "conjac"; }
  /// Those of the last step, or, before the first, as chosen.
  const std::vector<Index>& dynamic_nodes() const { return dynamic_; }

 protected:
  void advance(Solution& solution, StepReport& report) override;
  std::string remedy() const override;

 private:
  /// Ways to a positive definite H_qq, in the order they are tried.
  enum class Rung { exact, exact_ldlt, projected, projected_with_inertia };

  void take_step(Solution& solution, StepReport& report);
  void begin_frame();
  void assign_roles();
  void look_at_links();
  std::span<const Rung> ladder() const;
  bool settle(StepReport& report);
  FactorStatus factor(const VecX& x, Rung rung, StepReport& report);
  void condense();
  bool reduce();
  bool solve_for_velocities(StepReport& report);
  void apply_friction();
  void stabilise(StepReport& report);
  void imbalance(const VecX& f, VecX& result);
  void take_off_acceleration(const VecX& f, VecX& result) const;
  void correct_for_floor();
  double correct(VecX& x, double length, StepReport& report);
  void solve_quasistatic(Eigen::Ref<Eigen::MatrixXd> B);
  void find_link_rows();
  void add_rank_ones();
  void multiply_H(const VecX& x, VecX& result) const;
  void multiply_J_transposed(const Eigen::MatrixXd& right, Eigen::Ref<Eigen::MatrixXd> out);
  void end_links();
  double find_forces(const VecX& x, VecX& f);
  double energy(const VecX& x);
  void assemble_stiffness(const VecX& x, Projection projection);
  bool solve_contact(StepReport& report);
  bool fail(FactorStatus status, StepReport& report) const;

  ConjacOptions options_;
  PrescribedVelocity moving_;
  TurningFrame frame_;
  std::optional<StepGuard> guard_;        ///< where it is asked for
  std::vector<std::uint8_t> unturned_;    ///< scratch, per unknown: of parts that are not to turn
  std::vector<Index> chosen_;             ///< dynamic nodes as asked for
  std::vector<Index> dynamic_;            ///< and those that free pieces need beside them
  std::vector<std::uint8_t> held_;        ///< per unknown: neither dynamic nor quasistatic
  VecX is_quasistatic_;                   ///< per unknown: 1 or 0
  std::vector<std::uint8_t> prescribed_;  ///< per unknown: by pins and scripts; held_ has the links' nodes too
  const Articulation* links_ = nullptr;
  Eigen::Index joints_ = 0;  ///< degrees of freedom of the links
  /// The nodes that a link has to itself, one after the other at the end of all, and the joints that move them.
  struct LinkRows {
    Eigen::Index begin, size;  ///< unknowns
    std::vector<Eigen::Index> joints;
  };
  std::vector<LinkRows> link_rows_;
  Articulation::Poses poses_;          ///< of the links
  Eigen::MatrixXd B_, W_;              ///< velocities of the links' nodes for each joint velocity, and H times them
  VecX bias_;                          ///< accelerations of the links' nodes when no joint accelerates
  std::vector<Index> floating_;        ///< per node: the floating piece it is in, or -1
  std::vector<double> floating_mass_;  ///< of each, kg
  std::vector<Vec3> acceleration_;     ///< of each, as the last imbalance has it, m/s^2
  bool analysed_ = false;

  /// Contact as the step's own system sees it: linearised at x^n.
  struct LinearContact {
    VecX force;                     ///< N
    BlockMatrix stiffness;          ///< N/m
    VecX displacement, resistance;  ///< scratch
  };
  std::optional<LinearContact> linear_contact_;  ///< in models with contact
  std::optional<ContactSolve> contact_;          ///< likewise
  BlockMatrix without_contact_;

  BlockMatrix H_;
  std::vector<RankOne> ones_;  ///< what H has besides, over all unknowns, N/m
  RankOneUpdate update_;       ///< of H_qq by these
  MatX reduced_ones_;          ///< J^T times their vectors, with J as it was without them
  std::shared_ptr<const BlockPattern> analysed_pattern_;
  SparseCholesky cholesky_;
  Rung rung_ = Rung::exact;
  double shift_ = 0;             ///< on the diagonal of the dynamic nodes, N/m
  Eigen::MatrixXd J_, MJ_, DJ_;  ///< a column for each dynamic velocity, of nodes and then of joints
  Eigen::MatrixXd U_;            ///< right-hand sides over q, then solutions with H_qq
  Eigen::MatrixXd stiffness_;    ///< J^T H J
  Eigen::MatrixXd Z_;            ///< J^T (M + h D + beta h^2 H) J
  DenseLdlt Z_factor_;
  Eigen::MatrixXd at_dynamic_, own_, product_;  ///< scratch
  VecX mass_;                                   ///< lumped, per unknown, kg
  VecX pull_;                                   ///< H times the prescribed velocities
  VecX moved_;                                  ///< velocities when the dynamic ones are zero
  VecX v_;                                      ///< without the velocities of the frame, until the step ends
  VecX rhs_, z_, f_, x_, trial_, scratch_, momentum_;
};

}  // namespace pliant
