// One plan, one set of numbers: analysis, factorisation and solution are classes of their own; here they are put
// together with the checks and the refinement of solutions.
#include "pliant/linalg/sparse_cholesky.hpp"

#include <atomic>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>

#include "pliant/linalg/explicit_factor.hpp"
#include "pliant/linalg/multifrontal.hpp"
#include "pliant/linalg/symbolic_factor.hpp"
#include "pliant/linalg/tree_solve.hpp"
#include "pliant/math/parallel.hpp"

namespace pliant {
namespace {

bool finite(std::span<const double> values) {
  constexpr std::size_t grain = 1 << 15;
  const auto chunks = static_cast<Index>((values.size() + grain - 1) / grain);
  std::atomic<bool> all = true;
  for_chunks(chunks, 1, [&](Index chunk, Index) {
    const auto rest = values.subspan(grain * static_cast<std::size_t>(chunk));
    bool good = true;
    for (double v : rest.first(std::min(grain, rest.size()))) good &= std::abs(v) <= std::numeric_limits<double>::max();
    if (!good) all.store(false, std::memory_order_relaxed);
  });
  return all;
}

/// Relative residual at which a solution is as good as rounding allows, and how often it is refined at most.
constexpr double settled_residual = 1e-15;
constexpr int most_refinements = 10;

}  // namespace

std::string_view to_string(FactorStatus status) {
  switch (status) {
    case FactorStatus::ok:
      return "ok";
    case FactorStatus::not_positive_definite:
      return "not positive definite";
    case FactorStatus::singular:
      return "singular";
    case FactorStatus::not_finite:
      return "not finite";
    case FactorStatus::out_of_memory:
      return "out of memory";
  }
  return "unknown";
}

struct SparseCholesky::Implementation {
  std::shared_ptr<const BlockPattern> pattern;
  std::shared_ptr<const SymbolicFactor> plan;
  Multifrontal numeric;
  TreeSolve substitution;
  std::optional<Factorisation> factored;
  AlignedArray panels_in_float;  ///< floats, or nothing
  std::optional<ExplicitFactor> explicit_factor;
  BlockMatrix matrix;  ///< the last one of an L D L^T, for residuals
  Eigen::MatrixXd solution, residual, coordinates;
  VecX column, product;

  Implementation(std::shared_ptr<const BlockPattern> given, SymbolicFactor symbolic)
      : pattern(std::move(given)),
        plan(std::make_shared<const SymbolicFactor>(std::move(symbolic))),
        numeric(plan),
        substitution(plan, numeric.tasks()) {}

  FactorStatus finish(FactorStatus status, const BlockMatrix& A) {
    if (status != FactorStatus::ok) return status;
    factored = numeric.numbers().kind;
    if (*factored == Factorisation::ldlt) matrix = A;
    return status;
  }

  void compute_residual(const Eigen::Ref<const Eigen::MatrixXd>& b) {
    for (Eigen::Index c = 0; c < b.cols(); ++c) {
      column = solution.col(c);
      matrix.multiply(column, product);
      residual.col(c) = b.col(c) - product;
    }
  }

  /// Solves and refines (Arioli, Demmel, Duff 1989) while each correction halves the residual at least.
  void solve_refined(Eigen::Ref<Eigen::MatrixXd> b) {
    solution = b;
    residual.resize(b.rows(), b.cols());
    substitution.solve(numeric.numbers(), solution);
    double matrix_norm = 0;
    for (double a : matrix.values()) matrix_norm = std::max(matrix_norm, std::abs(a));
    compute_residual(b);
    double norm = residual.norm();
    for (int k = 0; k < most_refinements; ++k) {
      if (!(norm > settled_residual * (matrix_norm * solution.norm() + b.norm()))) break;
      substitution.solve(numeric.numbers(), residual);
      solution += residual;
      compute_residual(b);
      const double next = residual.norm();
      const bool slow = !(next < 0.5 * norm);
      norm = next;
      if (slow) break;
    }
    b = solution;
  }
};

SparseCholesky::SparseCholesky() = default;
SparseCholesky::~SparseCholesky() = default;
SparseCholesky::SparseCholesky(SparseCholesky&&) noexcept = default;
SparseCholesky& SparseCholesky::operator=(SparseCholesky&&) noexcept = default;

void SparseCholesky::analyze(std::shared_ptr<const BlockPattern> pattern, int block_size,
                             const AnalysisOptions& options) {
  assert(pattern && (block_size == 1 || block_size == 3));
  SymbolicFactor plan = analyze_symbolic(*pattern, block_size, options);
  implementation_ = std::make_unique<Implementation>(std::move(pattern), std::move(plan));
}

void SparseCholesky::analyze_in_order(std::shared_ptr<const BlockPattern> pattern, int block_size,
                                      std::vector<Index> order) {
  assert(pattern && (block_size == 1 || block_size == 3) && order.size() == static_cast<std::size_t>(pattern->rows()));
  SymbolicFactor plan = analyze_symbolic(*pattern, block_size, std::move(order), {}, false);
  implementation_ = std::make_unique<Implementation>(std::move(pattern), std::move(plan));
}

void SparseCholesky::change_pattern(std::shared_ptr<const BlockPattern> pattern) {
  assert(implementation_ && pattern && pattern->rows() == implementation_->plan->nodes);
  const SymbolicFactor& old = *implementation_->plan;
  SymbolicFactor plan = analyze_symbolic(*pattern, old.block_size, old.order, old.last_nodes, old.schur_nodes > 0);
  const bool keep = implementation_->numeric.keeps_updates();
  implementation_ = std::make_unique<Implementation>(std::move(pattern), std::move(plan));
  implementation_->numeric.keep_updates(keep);
}

void SparseCholesky::keep_updates(bool keep) {
  assert(implementation_ && "analyze() comes first");
  implementation_->numeric.keep_updates(keep);
}

FactorStatus SparseCholesky::factor(const BlockMatrix& A, Factorisation kind) {
  assert(implementation_ && "analyze() comes first");
  Implementation& self = *implementation_;
  assert(A.block_size() == self.plan->block_size);
  assert(A.shared_pattern() == self.pattern || A.pattern() == *self.pattern);
  self.factored.reset();
  self.explicit_factor.reset();
  self.panels_in_float.reset();
  if (!finite(A.values())) return FactorStatus::not_finite;
  return self.finish(self.numeric.factor(A, kind), A);
}

FactorStatus SparseCholesky::refactor(const BlockMatrix& A, std::span<const Index> dirty_nodes) {
  assert(implementation_ && "analyze() comes first");
  Implementation& self = *implementation_;
  assert(A.block_size() == self.plan->block_size);
  assert(A.shared_pattern() == self.pattern || A.pattern() == *self.pattern);
  self.factored.reset();
  self.explicit_factor.reset();
  self.panels_in_float.reset();
  if (!finite(A.values())) return FactorStatus::not_finite;
  return self.finish(self.numeric.refactor(A, dirty_nodes), A);
}

void SparseCholesky::solve(Eigen::Ref<Eigen::MatrixXd> b) {
  assert(implementation_ && implementation_->factored && "there is no factor");
  Implementation& self = *implementation_;
  assert(b.rows() == Eigen::Index(self.plan->block_size) * self.plan->nodes);
  if (b.size() == 0) return;
  if (self.explicit_factor) {
    for (Eigen::Index first = 0; first < b.cols(); first += 3) {
      double* columns = b.data() + first * b.outerStride();
      self.explicit_factor->solve(columns, columns, static_cast<int>(std::min<Eigen::Index>(3, b.cols() - first)), 1,
                                  b.outerStride());
    }
  } else if (self.panels_in_float) {
    self.substitution.solve(reinterpret_cast<const float*>(self.panels_in_float.get()), b);
  } else if (*self.factored == Factorisation::llt) {
    self.substitution.solve(self.numeric.numbers(), b);
  } else {
    self.solve_refined(b);
  }
}

void SparseCholesky::solve_coordinates(const VecX& b, VecX& x) {
  assert(implementation_ && implementation_->factored && "there is no factor");
  Implementation& self = *implementation_;
  const Eigen::Index n = self.plan->nodes;
  assert(self.plan->block_size == 1 && b.size() == 3 * n && &b != &x);
  x.resize(3 * n);
  if (n == 0) return;
  if (self.explicit_factor) return self.explicit_factor->solve(b.data(), x.data(), 3, 3, 1);
  self.coordinates = Eigen::Map<const Eigen::MatrixXd>(b.data(), 3, n).transpose();
  solve(self.coordinates);
  Eigen::Map<Eigen::MatrixXd>(x.data(), 3, n) = self.coordinates.transpose();
}

void SparseCholesky::make_explicit() {
  assert(implementation_ && implementation_->factored == Factorisation::llt && "there is no LL^T");
  Implementation& self = *implementation_;
  self.numeric.release_workspace();  // before there are two copies of the factor
  self.explicit_factor.emplace(self.plan, self.numeric.numbers().panels.get());
  self.numeric.release();
}

void SparseCholesky::store_in_float() {
  assert(implementation_ && implementation_->factored == Factorisation::llt && "there is no LL^T");
  Implementation& self = *implementation_;
  const auto count = static_cast<std::size_t>(self.plan->panel_numbers);
  self.numeric.release_workspace();  // before there are two copies of the factor
  self.panels_in_float = make_aligned_array((count + 1) / 2);
  auto* floats = reinterpret_cast<float*>(self.panels_in_float.get());
  std::fill_n(floats, count, 0.0F);
  // Column by column from the diagonal down: nothing else was ever written.
  for (const auto& s : self.plan->supernodes) {
    for (Index j = 0; j < self.plan->block_size * s.pivots; ++j) {
      const std::int64_t column = s.panel + j * s.stride;
      for (Index i = j; i < self.plan->block_size * (s.pivots + s.rows); ++i)
        floats[column + i] = static_cast<float>(self.numeric.numbers().panels[static_cast<std::size_t>(column + i)]);
    }
  }
  self.numeric.release();
}

bool SparseCholesky::has_schur_complement() const { return implementation_ && implementation_->numeric.has_schur(); }

Eigen::MatrixXd SparseCholesky::schur_complement() const {
  assert(has_schur_complement());
  const Implementation& self = *implementation_;
  Eigen::MatrixXd S = self.numeric.schur().selfadjointView<Eigen::Lower>();
  const FactorNumbers& numbers = self.numeric.numbers();
  if (numbers.kind == Factorisation::ldlt) {
    const Eigen::Map<const VecX> scale(numbers.scale.data() + numbers.scale.size() - static_cast<std::size_t>(S.rows()),
                                       S.rows());
    S = scale.cwiseInverse().asDiagonal() * S * scale.cwiseInverse().asDiagonal();
  }
  return S;
}

void SparseCholesky::condense(Eigen::Ref<Eigen::MatrixXd> X) {
  assert(has_schur_complement() && !implementation_->panels_in_float);
  assert(X.rows() == Eigen::Index(implementation_->plan->block_size) * implementation_->plan->nodes);
  if (X.size() == 0) return;
  implementation_->substitution.condense(implementation_->numeric.numbers(), X);
}

SparseCholesky::Inertia SparseCholesky::inertia() const {
  if (!implementation_ || implementation_->numeric.numbers().kind != Factorisation::ldlt) return {};
  const LdltCount count = implementation_->numeric.count();
  return {count.negative, count.zero};
}

Index SparseCholesky::perturbed_pivots() const {
  return implementation_ ? implementation_->numeric.count().perturbed : 0;
}

SparseCholesky::Statistics SparseCholesky::statistics() const {
  if (!implementation_) return {};
  const SymbolicFactor& plan = *implementation_->plan;
  const bool in_float = implementation_->panels_in_float != nullptr;
  return {plan.factor_entries,
          plan.flops,
          implementation_->numeric.last_flops(),
          implementation_->explicit_factor
              ? implementation_->explicit_factor->bytes()
              : plan.panel_numbers * static_cast<std::int64_t>(in_float ? sizeof(float) : sizeof(double)),
          static_cast<std::int64_t>(implementation_->numeric.update_numbers() * sizeof(double)),
          static_cast<Index>(plan.supernodes.size()),
          implementation_->numeric.needed_bytes()};
}

std::vector<SparseCholesky::SupernodeCost> SparseCholesky::supernode_costs() const {
  std::vector<SupernodeCost> costs;
  if (!implementation_) return costs;
  const auto seconds = implementation_->numeric.seconds();
  for (const auto& s : implementation_->plan->supernodes)
    costs.push_back({s.first, s.pivots, s.parent, s.flops, static_cast<double>(seconds[costs.size()])});
  return costs;
}

std::span<const Index> SparseCholesky::order() const {
  return implementation_ ? std::span<const Index>(implementation_->plan->order) : std::span<const Index>{};
}

}  // namespace pliant
