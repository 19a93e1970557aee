#include "pliant/solvers/pxpbd/constraint_update.hpp"

#include <algorithm>
#include <cmath>

#include "pliant/math/parallel.hpp"

namespace pliant::pbd {

ConstraintUpdate::ConstraintUpdate(const Elements& elements, const LocalOptions& options)
    : elements_(elements), options_(options) {}

void ConstraintUpdate::begin_step(const StepStart& start) {
  h2_ = start.h * start.h;
  multipliers_.assign(elements_.batches().size(), {});
  if (options_.method != Method::blended) return;
  memory_.resize(elements_.batches().size());
  for_chunks(static_cast<Index>(memory_.size()), 16, [&](Index begin, Index end) {
    for (Index b = begin; b < end; ++b) {
      BlendMemory& memory = memory_[static_cast<std::size_t>(b)];
      for (Batch9& S : memory.S) S = {};
      const ElementBatch& batch = elements_.batches()[static_cast<std::size_t>(b)];
      double kappa[kBatch];
      if (options_.zeta <= 0) stiffness_numbers(batch, h2_, kappa);
      for (int p = 0; p < kBatch; ++p) {
        // Where corners are all held or there is no stiffness, nothing turns, and any share is stable.
        memory.compliance[0][p] = options_.zeta > 0 || !(kappa[p] > 0) ? 0 : kappa[p] / (2 * batch.lame[0][p]);
        memory.zeta[0][p] = options_.zeta > 0 ? options_.zeta : 1 - options_.blend;
      }
    }
  });
}

void ConstraintUpdate::update(Index b, const Batch9& F, Batch9& Q) {
  const auto i = static_cast<std::size_t>(b);
  const ElementBatch& batch = elements_.batches()[i];
  const LocalLaw law = elements_.groups()[static_cast<std::size_t>(batch.group)].kind;
  if (options_.method == Method::blended)
    blended_update(law, h2_, options_.blend, batch, F, multipliers_[i], memory_[i], Q);
  else
    xpbd_update(law, h2_, batch, F, multipliers_[i], Q);
}

void ConstraintUpdate::stress(Index b, const Batch9& F, Batch<1>& psi, Batch9& P) const {
  const ElementBatch& batch = elements_.batches()[static_cast<std::size_t>(b)];
  elements_.groups()[static_cast<std::size_t>(batch.group)].law->stress(F, batch.lame, psi, P);
}

void ConstraintUpdate::residual(Index b, const Batch9& F, Batch9& Q, double* secondary2) const {
  const auto i = static_cast<std::size_t>(b);
  const ElementBatch& batch = elements_.batches()[i];
  constraint_residual(elements_.groups()[static_cast<std::size_t>(batch.group)].kind, h2_, batch, F, multipliers_[i], Q,
                      secondary2);
}

void SqrtEnergyUpdate::begin_step(const StepStart& start) {
  h2_ = start.h * start.h;
  multipliers_.assign(elements_.batches().size(), {});
}

void SqrtEnergyUpdate::update(Index b, const Batch9& F, Batch9& Q) {
  const auto i = static_cast<std::size_t>(b);
  const ElementBatch& batch = elements_.batches()[i];
  Batch<1> psi;
  Batch9 P;
  stress(b, F, psi, P);
  sqrt_energy_update(h2_, batch, psi, P, multipliers_[i], Q);
}

void SqrtEnergyUpdate::stress(Index b, const Batch9& F, Batch<1>& psi, Batch9& P) const {
  const ElementBatch& batch = elements_.batches()[static_cast<std::size_t>(b)];
  elements_.groups()[static_cast<std::size_t>(batch.group)].law->stress(F, batch.lame, psi, P);
}

void SqrtEnergyUpdate::residual(Index b, const Batch9& F, Batch9& Q, double* secondary2) const {
  const auto i = static_cast<std::size_t>(b);
  const ElementBatch& batch = elements_.batches()[i];
  Batch<1> psi;
  Batch9 P;
  stress(b, F, psi, P);
  for (int p = 0; p < kBatch; ++p) {
    const double C = std::sqrt(std::max(psi[0][p], 0.0)), multiplier = multipliers_[i][0][p];
    const double residual = 2 * C + multiplier / (h2_ * batch.volume[0][p]);
    secondary2[p] = residual * residual;
    for (int c = 0; c < 9; ++c) Q[c][p] = C > 0 ? multiplier * P[c][p] / (2 * C) : 0;
  }
}

}  // namespace pliant::pbd
