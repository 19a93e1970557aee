#include "pliant/solvers/quasi_newton/initial_hessian.hpp"

#include <algorithm>

#include "pliant/base/error.hpp"
#include "pliant/linalg/incomplete_cholesky.hpp"
#include "pliant/linalg/pcg.hpp"
#include "pliant/solvers/quasi_newton/contact_laplacian.hpp"
#include "pliant/solvers/warp_canceling/node_rotations.hpp"

namespace pliant {

namespace {

class LaplacianHessian final : public InitialHessian {
 public:
  LaplacianHessian(std::shared_ptr<const Model> model, const LaplacianMatrix::Options& options)
      : matrix_(std::move(model), options) {}
  bool prepare(IncrementalPotential& potential, StepReport& report) override {
    follows_ = false;
    return matrix_.prepare(potential.problem(), report.factorisations);
  }
  FactorStatus status() const override { return matrix_.status(); }
  const SparseCholesky* cholesky() const override { return &matrix_.cholesky(); }
  int linear_iterations() const override { return matrix_.linear_iterations(); }
  void solve(const VecX& q, const Lbfgs&, VecX& r) override {
    if (!follows_) return matrix_.solve(q, r);
    r = q;
    exact_->cholesky.solve(r);
  }

  bool can_follow() const override { return true; }
  bool follow(IncrementalPotential& potential, const VecX& x, double damping) override {
    if (!exact_) {
      exact_ = std::make_unique<Exact>(potential.make_matrix());
      exact_->cholesky.analyze(exact_->H.shared_pattern(), 3);
    }
    BlockMatrix& H = exact_->H;
    potential.hessian(x, Projection::analytic, 1, H);
    for (Index i = 0; i < H.pattern().rows(); ++i) {
      Eigen::Map<Mat3> block(H.block(H.pattern().diagonal(i)));
      block.diagonal().array() += damping * block.diagonal().maxCoeff();
    }
    follows_ = exact_->cholesky.factor(H) == FactorStatus::ok;
    return follows_;
  }

 private:
  struct Exact {
    BlockMatrix H;
    SparseCholesky cholesky;
    explicit Exact(BlockMatrix matrix) : H(std::move(matrix)) {}
  };

  LaplacianMatrix matrix_;
  std::unique_ptr<Exact> exact_;  ///< made when first needed, which is seldom
  bool follows_ = false;
};

/// Eq. (13). Before there is a pair, the mean of the diagonal of M/h^2 + L says how stiff things are.
class ScaledIdentity final : public InitialHessian {
 public:
  explicit ScaledIdentity(std::shared_ptr<const Model> model) : matrix_(std::move(model), {}) {}
  bool prepare(IncrementalPotential& potential, StepReport&) override {
    if (made_for_.fits_without_grabs(potential.problem())) return false;
    made_for_ = MatrixKey(potential.problem());
    const BlockMatrix& A = matrix_.assemble(potential.problem());
    double sum = 0;
    for (Index i = 0; i < A.pattern().rows(); ++i) sum += *A.block(A.pattern().find(i, i));
    first_scale_ = A.pattern().rows() / sum;
    return true;
  }
  FactorStatus status() const override { return FactorStatus::ok; }
  void solve(const VecX& q, const Lbfgs& pairs, VecX& r) override {
    const double scale = pairs.identity_scale();
    r = (scale > 0 ? scale : first_scale_) * q;
  }

 private:
  LaplacianMatrix matrix_;
  MatrixKey made_for_;
  double first_scale_ = 1;
};

/// The Hessian at rest.
class RestPoseHessian final : public InitialHessian {
 public:
  RestPoseHessian(std::shared_ptr<const Model> model, NodeRotationKind kind)
      : model_(std::move(model)), rotations_(*model_, kind) {}

  bool prepare(IncrementalPotential& potential, StepReport& report) override {
    const StepProblem& problem = potential.problem();
    if (!rotations_.none()) {
      const std::vector<std::uint8_t>& fixed = problem.boundary.fixed;
      held_.resize(static_cast<std::size_t>(model_->nodes()));
      for (std::size_t i = 0; i < held_.size(); ++i) held_[i] = fixed[3 * i] || fixed[3 * i + 1] || fixed[3 * i + 2];
      rotations_.compute(potential.start(), held_);
    }
    if (made_for_.fits(problem)) return false;
    made_for_ = MatrixKey();
    prescribed_ = problem.fixed;
    BlockMatrix H = potential.make_matrix();
    potential.rest_hessian(H);
    if (!analysed_) cholesky_.analyze(model_->pattern(), 3);
    analysed_ = true;
    ++report.factorisations;
    status_ = cholesky_.factor(H);
    if (status_ == FactorStatus::ok) cholesky_.make_explicit();
    if (status_ != FactorStatus::out_of_memory) made_for_ = MatrixKey(problem);  // tried again otherwise
    return true;
  }
  FactorStatus status() const override { return status_; }
  const SparseCholesky* cholesky() const override { return &cholesky_; }

  /// R A^{-1} R^T q
  void solve(const VecX& q, const Lbfgs& pairs, VecX& r) override {
    if (rotations_.none()) return solve_at_rest(q, pairs, r);
    const auto R = rotations_.rotations();
    turned_.resize(q.size());
    for (Index i = 0; i < model_->nodes(); ++i)
      node(turned_, i) = R[static_cast<std::size_t>(i)].transpose() * node(q, i);
    cholesky_.solve(turned_);
    r.resize(q.size());
    for (Index i = 0; i < model_->nodes(); ++i) node(r, i) = R[static_cast<std::size_t>(i)] * node(turned_, i);
    for (Index i : prescribed_) r[i] = 0;
  }
  void solve_at_rest(const VecX& q, const Lbfgs&, VecX& r) override {
    r = q;
    cholesky_.solve(r);
    for (Index i : prescribed_) r[i] = 0;
  }

 private:
  std::shared_ptr<const Model> model_;
  NodeRotationField rotations_;
  bool analysed_ = false;
  SparseCholesky cholesky_;
  FactorStatus status_ = FactorStatus::singular;
  MatrixKey made_for_;
  std::vector<Index> prescribed_;
  std::vector<std::uint8_t> held_;
  VecX turned_;  ///< scratch
};

/// An incomplete factorisation of M/h^2 + L, applied to x, y and z.
class LaplacianPreconditioner final : public Preconditioner<double> {
 public:
  explicit LaplacianPreconditioner(const std::shared_ptr<const BlockPattern>& pattern) : product_(pattern, 1) {}
  void set_matrix(const BlockMatrix& A) {
    product_.set(A);
    factor_.set(product_);
  }
  void set(const BlockProduct<double>&) override {}
  void apply(const VecX& r, VecX& z) override {
    z.resize(r.size());
    for (int c = 0; c < 3; ++c) {
      const auto coordinate = Eigen::seqN(c, r.size() / 3, 3);
      in_ = r(coordinate);
      factor_.apply(in_, out_);
      z(coordinate) = out_;
    }
  }

 private:
  BlockProduct<double> product_;
  IncompleteCholesky<double> factor_;
  VecX in_, out_;
};

/// The projected Hessian of the step's start: factorised every step, or never, with conjugate gradients.
class FrameStartHessian final : public InitialHessian {
 public:
  FrameStartHessian(std::shared_ptr<const Model> model, const InitialHessianOptions& options)
      : model_(std::move(model)), options_(options), laplacian_(model_, options.laplacian), H_(model_->pattern(), 3) {
    follow_pattern();
    if (!is_iterative()) return;
    if (options_.preconditioner == InitialPreconditioner::laplacian)
      shared_ = std::make_unique<LaplacianPreconditioner>(model_->pattern());
    else
      preconditioner_ = make_preconditioner<double>(options_.preconditioner == InitialPreconditioner::jacobi
                                                        ? PreconditionerKind::jacobi
                                                        : PreconditionerKind::incomplete_cholesky);
  }

  bool prepare(IncrementalPotential& potential, StepReport& report) override {
    linear_iterations_ = 0;
    if (is_iterative()) prepare_preconditioner(potential);
    potential.hessian(potential.start(), Projection::analytic, 1, H_);
    follow_pattern();
    if (is_iterative()) {
      product_.set(H_);
      if (options_.preconditioner == InitialPreconditioner::jacobi) preconditioner_->set(product_);
      status_ = FactorStatus::ok;
      return true;
    }
    ++report.factorisations;
    status_ = cholesky_.factor(H_);
    return true;
  }
  FactorStatus status() const override { return status_; }
  const SparseCholesky* cholesky() const override { return &cholesky_; }
  int linear_iterations() const override { return linear_iterations_; }

  void solve(const VecX& q, const Lbfgs&, VecX& r) override {
    if (!is_iterative()) {
      r = q;
      cholesky_.solve(r);
      return;
    }
    r.setZero(q.size());
    Preconditioner<double>& preconditioner = shared_ ? *shared_ : *preconditioner_;
    linear_iterations_ += pcg_.solve(product_, q, r, preconditioner, {0.0, options_.linear_iterations}).iterations;
  }

 private:
  bool is_iterative() const { return options_.linear == HessianSolve::gradients; }

  /// Contact couples other nodes in every step.
  void follow_pattern() {
    if (pattern_ == H_.shared_pattern()) return;
    pattern_ = H_.shared_pattern();
    if (is_iterative())
      product_ = BlockProduct<double>(pattern_, 3);
    else
      cholesky_.analyze(pattern_, 3);
  }

  /// The constant ones, when what they were made for has changed.
  void prepare_preconditioner(IncrementalPotential& potential) {
    if (made_for_.fits(potential.problem())) return;
    made_for_ = MatrixKey(potential.problem());
    if (shared_) {
      shared_->set_matrix(laplacian_.assemble(potential.problem()));
    } else if (options_.preconditioner == InitialPreconditioner::rest_pose) {
      BlockMatrix H = potential.make_matrix();
      potential.rest_hessian(H);
      BlockProduct<double> product(H.shared_pattern(), 3);
      product.set(H);
      preconditioner_->set(product);
    }
  }

  std::shared_ptr<const Model> model_;
  InitialHessianOptions options_;
  LaplacianMatrix laplacian_;
  BlockMatrix H_;
  std::shared_ptr<const BlockPattern> pattern_;  ///< of H_ and of what was made for it
  SparseCholesky cholesky_;
  BlockProduct<double> product_;
  std::unique_ptr<Preconditioner<double>> preconditioner_;
  std::unique_ptr<LaplacianPreconditioner> shared_;
  Pcg<double> pcg_;
  FactorStatus status_ = FactorStatus::singular;
  int linear_iterations_ = 0;
  MatrixKey made_for_;
};

/// M/h^2 + L by conjugate gradients, coordinate by coordinate.
class IterativeLaplacian final : public InitialHessian {
 public:
  IterativeLaplacian(std::shared_ptr<const Model> model, const InitialHessianOptions& options)
      : options_(options), matrix_(model, options.laplacian), product_(model->pattern(), 1) {
    if (options.preconditioner == InitialPreconditioner::rest_pose)
      throw InputError(
          "preconditioner 'rest-pose' is a 3n x 3n matrix and goes with hessian 'frame-start'; with 'laplacian' take "
          "'jacobi' or 'laplacian'");
    preconditioner_ = make_preconditioner<double>(options.preconditioner == InitialPreconditioner::jacobi
                                                      ? PreconditionerKind::jacobi
                                                      : PreconditionerKind::incomplete_cholesky);
  }
  bool prepare(IncrementalPotential& potential, StepReport&) override {
    linear_iterations_ = 0;
    if (made_for_.fits_without_grabs(potential.problem())) return false;
    made_for_ = MatrixKey(potential.problem());
    prescribed_ = potential.problem().fixed;
    product_.set(matrix_.assemble(potential.problem()));
    preconditioner_->set(product_);
    return true;
  }
  FactorStatus status() const override { return FactorStatus::ok; }
  int linear_iterations() const override { return linear_iterations_; }
  void solve(const VecX& q, const Lbfgs&, VecX& r) override {
    r.resize(q.size());
    for (int c = 0; c < 3; ++c) {
      const auto coordinate = Eigen::seqN(c, q.size() / 3, 3);
      in_ = q(coordinate);
      out_.setZero(in_.size());
      linear_iterations_ +=
          pcg_.solve(product_, in_, out_, *preconditioner_, {0.0, options_.linear_iterations}).iterations;
      r(coordinate) = out_;
    }
    for (Index i : prescribed_) r[i] = 0;
  }

 private:
  InitialHessianOptions options_;
  LaplacianMatrix matrix_;
  BlockProduct<double> product_;
  std::unique_ptr<Preconditioner<double>> preconditioner_;
  Pcg<double> pcg_;
  int linear_iterations_ = 0;
  MatrixKey made_for_;
  std::vector<Index> prescribed_;
  VecX in_, out_;
};

}  // namespace

bool has_free_modes(const Model& model) {
  if (model.contact() || !model.carried().empty()) return true;
  const TieEnergy* ties = model.ties();
  return ties && std::any_of(ties->ties().begin(), ties->ties().end(), [](const Tie& tie) { return tie.slides(); });
}

std::unique_ptr<InitialHessian> make_initial_hessian(std::shared_ptr<const Model> model,
                                                     const InitialHessianOptions& options) {
  if (options.linear == HessianSolve::gradients && options.kind != InitialHessianKind::laplacian &&
      options.kind != InitialHessianKind::frame_start)
    throw InputError("linear 'pcg' goes with the hessians 'laplacian' and 'frame-start'; others are solved directly");
  if (options.linear == HessianSolve::multigrid &&
      (options.kind != InitialHessianKind::laplacian || has_free_modes(*model)))
    throw InputError(
        "linear 'multigrid' goes with the hessian 'laplacian', without contact, rigid bodies and what slides; take "
        "'auto'");
  LaplacianMatrix::Options laplacian = options.laplacian;
  if (options.linear == HessianSolve::direct) laplacian.solve = LaplacianMatrix::Solve::factor;
  if (options.linear == HessianSolve::multigrid) laplacian.solve = LaplacianMatrix::Solve::multigrid;
  switch (options.kind) {
    case InitialHessianKind::laplacian:
      if (options.linear == HessianSolve::gradients)
        return std::make_unique<IterativeLaplacian>(std::move(model), options);
      if (has_free_modes(*model))
        return std::make_unique<ContactLaplacian>(std::move(model), laplacian, options.is_timed);
      return std::make_unique<LaplacianHessian>(std::move(model), laplacian);
    case InitialHessianKind::scaled_identity:
      return std::make_unique<ScaledIdentity>(std::move(model));
    case InitialHessianKind::rest_pose:
      return std::make_unique<RestPoseHessian>(std::move(model), NodeRotationKind::identity);
    case InitialHessianKind::warped_rest_pose:
      return std::make_unique<RestPoseHessian>(std::move(model), NodeRotationKind::ring);
    case InitialHessianKind::frame_start:
      return std::make_unique<FrameStartHessian>(std::move(model), options);
  }
  return nullptr;
}

}  // namespace pliant
