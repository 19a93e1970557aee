// One plan, two factorisations: positive definite matrices go to our multifrontal L L^T, indefinite ones to an L D L^T
// with pivoting. Both are made on first use, so that a solver that only ever sees one kind pays for one.
#include "pliant/linalg/sparse_cholesky.hpp"

#include <atomic>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>

#include "pliant/linalg/multifrontal.hpp"
#include "pliant/linalg/mumps_ldlt.hpp"
#include "pliant/linalg/symbolic_factor.hpp"
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
  std::unique_ptr<MultifrontalCholesky> llt;
  std::unique_ptr<MumpsLdlt> ldlt;
  std::optional<Factorisation> factored;
  Inertia inertia;
  Statistics statistics;
};

SparseCholesky::SparseCholesky() = default;
SparseCholesky::~SparseCholesky() = default;
SparseCholesky::SparseCholesky(SparseCholesky&&) noexcept = default;
SparseCholesky& SparseCholesky::operator=(SparseCholesky&&) noexcept = default;

void SparseCholesky::analyze(std::shared_ptr<const BlockPattern> pattern, int block_size) {
  assert(pattern && (block_size == 1 || block_size == 3));
  auto fresh = std::make_unique<Implementation>();
  fresh->plan = std::make_shared<const SymbolicFactor>(analyze_symbolic(*pattern, block_size));
  fresh->pattern = std::move(pattern);
  fresh->statistics = {fresh->plan->factor_entries, fresh->plan->flops};
  implementation_ = std::move(fresh);
}

FactorStatus SparseCholesky::factor(const BlockMatrix& A, Factorisation kind) {
  assert(implementation_ && "analyze() comes first");
  Implementation& self = *implementation_;
  assert(A.block_size() == self.plan->block_size);
  assert(A.shared_pattern() == self.pattern || A.pattern() == *self.pattern);
  self.factored.reset();
  if (!finite(A.values())) return FactorStatus::not_finite;
  FactorStatus status = FactorStatus::ok;
  if (kind == Factorisation::llt) {
    if (!self.llt) self.llt = std::make_unique<MultifrontalCholesky>(self.plan);
    status = self.llt->factor(A);
    self.statistics = {self.plan->factor_entries, self.plan->flops};
  } else if (self.plan->nodes > 0) {
    if (!self.ldlt) self.ldlt = std::make_unique<MumpsLdlt>(self.pattern, *self.plan);
    status = self.ldlt->factor(A);
    self.inertia = self.ldlt->inertia();
    self.statistics = self.ldlt->statistics();
  }
  if (status == FactorStatus::ok) self.factored = kind;
  return status;
}

void SparseCholesky::solve(Eigen::Ref<Eigen::MatrixXd> b) {
  assert(implementation_ && implementation_->factored && "there is no factor");
  Implementation& self = *implementation_;
  assert(b.rows() == Eigen::Index(self.plan->block_size) * self.plan->nodes);
  if (b.size() == 0) return;
  if (*self.factored == Factorisation::llt) {
    self.llt->solve(b);
  } else {
    self.ldlt->solve(b);
  }
}

SparseCholesky::Inertia SparseCholesky::inertia() const {
  return implementation_ ? implementation_->inertia : Inertia{};
}

SparseCholesky::Statistics SparseCholesky::statistics() const {
  return implementation_ ? implementation_->statistics : Statistics{};
}

}  // namespace pliant
