#include "pliant/solvers/pxpbd/first_piola_update.hpp"

#include <algorithm>
#include <cmath>

#include "pliant/math/parallel.hpp"

namespace pliant::pbd {

namespace {

FibreBatch fibre_batch(const Fibres& fibres, const Elements& elements, const ElementBatch& batch) {
  FibreBatch out;
  for (int p = 0; p < kBatch; ++p) {
    const auto e = static_cast<std::size_t>(elements.local_index(batch.elements[p]));
    const Vec3& direction = fibres.directions[fibres.directions.size() == 1 ? 0 : e];
    const FibreParameters& f = fibres.parameters[fibres.parameters.size() == 1 ? 0 : e];
    const double length = direction.norm();
    for (int i = 0; i < 3; ++i) out[i][p] = length > 0 ? direction[i] / length : 0;
    out[3][p] = length > 0 ? f.stiffness : 0;
    out[4][p] = f.shape;
    out[5][p] = length > 0 ? f.active_stress : 0;
  }
  return out;
}

double activation_of(Index muscle, std::span<const double> activation) {
  return muscle < 0 || activation.empty() ? 0 : activation[static_cast<std::size_t>(muscle)];
}

double inner(const Batch9& a, const Batch9& b, int p) {
  double sum = 0;
  for (int c = 0; c < 9; ++c) sum += a[c][p] * b[c][p];
  return sum;
}

/// a : (b A) for the metric A of lane p.
double inner_by_metric(const Batch9& a, const Batch9& b, const Batch<6>& A, int p) {
  double sum = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) sum += a[3 * j + i][p] * b[3 * k + i][p] * A[packed_any(j, k)][p];
  return sum;
}

/// Adds to the projected Hessian H of the elements' laws at F, with stress P, what their neighbours' frozen stresses
/// leave out (docs/pxpbd.md). Where H has little curvature or none, in rotations and in what was projected, a step
/// would take the stress of the moment over as it is, which at large stiffness numbers is an explicit step and
/// explodes. Half of the 2 mu that the Sherman-Morrison path has there are enough beside H, and as much as the element
/// is pressed: the curvature of a rotation under a pressure p is about -p.
void majorise(const ElementBatch& batch, const Batch9& F, const Batch9& P, Batch45& H) {
  for (int p = 0; p < kBatch; ++p) {
    const double pressed = std::max(0.0, -inner(P, F, p)) / std::sqrt(inner(F, F, p) + 1e-300);
    const double c = batch.lame[0][p] + 0.5 * pressed;
    for (int k = 0; k < 9; ++k) H[packed(k, k)][p] += c;
  }
}

}  // namespace

FirstPiolaUpdate::FirstPiolaUpdate(const Elements& elements, const LocalOptions& options)
    : elements_(elements), options_(options), recovery_law_(find_law("fixed-corotated")) {}

bool FirstPiolaUpdate::is_full(const ElementBatch& batch) const {
  return options_.form == LocalForm::full ||
         elements_.groups()[static_cast<std::size_t>(batch.group)].kind == LocalLaw::any;
}

void FirstPiolaUpdate::begin_step(const StepStart& start) {
  h_ = start.h;
  activation_.assign(start.activation.begin(), start.activation.end());
  P_.assign(elements_.batches().size(), {});
  const auto& groups = elements_.groups();
  if (packed_for_ != elements_.sorts()) pack_fibres();
  if (std::none_of(groups.begin(), groups.end(), [](const ElementGroup& g) { return g.damping > 0; })) return;
  damping_.resize(P_.size());
  for_chunks(static_cast<Index>(P_.size()), 4, [&](Index begin, Index end) {
    for (Index b = begin; b < end; ++b) {
      const auto i = static_cast<std::size_t>(b);
      const ElementBatch& batch = elements_.batches()[i];
      if (groups[static_cast<std::size_t>(batch.group)].damping <= 0) continue;
      elements_.gradients_at(start.x, batch, damping_[i].F);
      law_hessian(i, damping_[i].F, start.activation_before, damping_[i].H);
    }
  });
}

void FirstPiolaUpdate::pack_fibres() {
  const std::size_t count = elements_.batches().size();
  packed_for_ = elements_.sorts();
  fibres_.assign(elements_.groups().size(), {});
  slot_.assign(count, 0);
  for (std::size_t g = 0; g < fibres_.size(); ++g)
    if (const auto* layers = elements_.groups()[g].fibres)
      for (const Fibres& layer : *layers) fibres_[g].push_back({layer.law, layer.activation, {}});
  std::vector<Index> next(fibres_.size(), 0);
  for (std::size_t b = 0; b < count; ++b) {
    const ElementBatch& batch = elements_.batches()[b];
    const auto g = static_cast<std::size_t>(batch.group);
    slot_[b] = next[g]++;
    for (std::size_t k = 0; k < fibres_[g].size(); ++k)
      fibres_[g][k].batches.push_back(fibre_batch((*elements_.groups()[g].fibres)[k], elements_, batch));
  }
}

/// Energy density and stress of the law, the fibres and damping; where it is infinite, that of the recovering law.
FirstPiolaUpdate::Recovery FirstPiolaUpdate::finite_stress(std::size_t b, const Batch9& F, Batch<1>& psi,
                                                           Batch9& P) const {
  stress_with({}, b, F, psi, P);
  Recovery recovery;
  for (int p = 0; p < kBatch; ++p) recovery.any |= recovery.lane[p] = psi[0][p] == HUGE_VAL;
  if (recovery.any) stress_with(recovery, b, F, psi, P);
  return recovery;
}

void FirstPiolaUpdate::stress(Index b, const Batch9& F, Batch<1>& psi, Batch9& P) const {
  stress_with({}, static_cast<std::size_t>(b), F, psi, P);
}

void FirstPiolaUpdate::stress_with(const Recovery& recovery, std::size_t b, const Batch9& F, Batch<1>& psi,
                                   Batch9& P) const {
  const ElementBatch& batch = elements_.batches()[b];
  const auto g = static_cast<std::size_t>(batch.group);
  const ElementGroup& group = elements_.groups()[g];
  group.law->stress(F, batch.lame, psi, P);
  if (recovery.any) {
    Batch<1> other_psi;
    Batch9 other;
    recovery_law_->stress(F, batch.lame, other_psi, other);
    for (int p = 0; p < kBatch; ++p) {
      if (!recovery.lane[p]) continue;
      psi[0][p] = other_psi[0][p];
      for (int c = 0; c < 9; ++c) P[c][p] = other[c][p];
    }
  }
  if (group.fibres)
    for (const FibreLayer& layer : fibres_[g])
      add_fibre_stress(*layer.law, F, layer.batches[static_cast<std::size_t>(slot_[b])],
                       activation_of(layer.activation, activation_), psi, P);
  if (group.damping > 0) {
    Batch9 dF, dP;
    for (int c = 0; c < 9; ++c)
      for (int p = 0; p < kBatch; ++p) dF[c][p] = F[c][p] - damping_[b].F[c][p];
    multiply_hessian(damping_[b].H, dF, dP);
    const double scale = group.damping / h_;
    for (int p = 0; p < kBatch; ++p) psi[0][p] += 0.5 * scale * inner(dF, dP, p);
    for (int c = 0; c < 9; ++c)
      for (int p = 0; p < kBatch; ++p) P[c][p] += scale * dP[c][p];
  }
}

void FirstPiolaUpdate::law_hessian(std::size_t b, const Batch9& F, std::span<const double> activation,
                                   Batch45& H) const {
  const ElementBatch& batch = elements_.batches()[b];
  const auto g = static_cast<std::size_t>(batch.group);
  elements_.groups()[g].law->hessian(F, batch.lame, Projection::analytic, H);
  if (elements_.groups()[g].fibres)
    for (const FibreLayer& layer : fibres_[g])
      add_fibre_hessian(*layer.law, F, layer.batches[static_cast<std::size_t>(slot_[b])],
                        activation_of(layer.activation, activation), Projection::analytic, H);
}

void FirstPiolaUpdate::hessian(std::size_t b, const Batch9& F, const Recovery& recovery, Batch45& H) const {
  law_hessian(b, F, activation_, H);
  const ElementBatch& batch = elements_.batches()[b];
  const ElementGroup& group = elements_.groups()[static_cast<std::size_t>(batch.group)];
  if (recovery.any) {
    Batch45 other;
    recovery_law_->hessian(F, batch.lame, Projection::analytic, other);
    for (int p = 0; p < kBatch; ++p)
      if (recovery.lane[p])
        for (int c = 0; c < 45; ++c) H[c][p] = other[c][p];
  }
  if (group.damping > 0)
    for (int c = 0; c < 45; ++c)
      for (int p = 0; p < kBatch; ++p) H[c][p] += group.damping / h_ * damping_[b].H[c][p];
}

void FirstPiolaUpdate::update(Index b, const Batch9& F, Batch9& Q) {
  const auto i = static_cast<std::size_t>(b);
  const ElementBatch& batch = elements_.batches()[i];
  if (is_full(batch))
    full_update(i, F, Q);
  else
    first_piola_update(elements_.groups()[static_cast<std::size_t>(batch.group)].kind, h_ * h_, options_.inner, batch,
                       F, P_[i], Q);
}

/// Newton on an element while its neighbours' stresses stay, eqs. (29) to (34). With P the element's stress, its local
/// potential per volume is h^2 V/2 P : (P A) + Psi(F): the first term is the inertia of its nodes against the positions
/// they would have without it. Each step halves its length until that potential falls (docs/pxpbd.md). Slivers are
/// searched with the round metric too, as if their nodes were lighter; how far these really go is for F to say.
void FirstPiolaUpdate::full_update(std::size_t b, const Batch9& F0, Batch9& Q) {
  constexpr int kHalvings = 12;
  constexpr double kDecrease = 1e-4, kNoise = 1e-13;
  const ElementBatch& batch = elements_.batches()[b];
  Batch9& P = P_[b];
  Batch9 F = F0;
  Q = {};
  for (int k = 0; k < options_.inner; ++k) {
    Batch<1> psi, trial_psi;
    Batch9 stress_now, r, dF, dP, trial_F, trial_stress;
    Batch45 H;
    const Recovery recovery = finite_stress(b, F, psi, stress_now);
    for (int c = 0; c < 9; ++c)
      for (int p = 0; p < kBatch; ++p) r[c][p] = stress_now[c][p] - P[c][p];
    hessian(b, F, recovery, H);
    majorise(batch, F, stress_now, H);
    full_newton_step(h_ * h_, batch, r, H, dF, dP);

    double slope[kBatch], linear[kBatch], quadratic[kBatch], alpha[kBatch], noise[kBatch];
    bool accepted[kBatch] = {};
    for (int p = 0; p < kBatch; ++p) {
      const double vh2 = h_ * h_ * batch.volume[0][p];
      linear[p] = vh2 * inner_by_metric(P, dP, batch.round_metric, p);
      quadratic[p] = 0.5 * vh2 * inner_by_metric(dP, dP, batch.round_metric, p);
      slope[p] = linear[p] + inner(stress_now, dF, p);
      noise[p] = kNoise * (std::abs(psi[0][p]) + vh2 * inner_by_metric(P, P, batch.round_metric, p));
      alpha[p] = 1;
    }
    for (int halving = 0; halving <= kHalvings; ++halving) {
      for (int c = 0; c < 9; ++c)
        for (int p = 0; p < kBatch; ++p) trial_F[c][p] = F[c][p] + alpha[p] * dF[c][p];
      stress_with(recovery, b, trial_F, trial_psi, trial_stress);
      bool all = true;
      for (int p = 0; p < kBatch; ++p) {
        if (accepted[p]) continue;
        const double change = trial_psi[0][p] - psi[0][p] + alpha[p] * (linear[p] + alpha[p] * quadratic[p]);
        accepted[p] = change <= kDecrease * alpha[p] * slope[p] + noise[p];
        if (accepted[p]) continue;
        all = false;
        alpha[p] = halving == kHalvings ? 0 : 0.5 * alpha[p];
      }
      if (all) break;
    }
    for (int c = 0; c < 9; ++c)
      for (int p = 0; p < kBatch; ++p) {
        const double change = alpha[p] * dP[c][p];
        P[c][p] += change;
        Q[c][p] -= h_ * h_ * batch.volume[0][p] * change;
      }
    if (k + 1 < options_.inner) moved_gradients(batch, F0, Q, F);
  }
}

void FirstPiolaUpdate::residual(Index b, const Batch9& F, Batch9& Q, double* secondary2) const {
  const auto i = static_cast<std::size_t>(b);
  Batch<1> psi;
  Batch9 now;
  finite_stress(i, F, psi, now);
  for (int p = 0; p < kBatch; ++p) {
    secondary2[p] = 0;
    for (int c = 0; c < 9; ++c) {
      const double r = now[c][p] - P_[i][c][p];
      secondary2[p] += r * r;
      Q[c][p] = -h_ * h_ * elements_.batches()[i].volume[0][p] * P_[i][c][p];
    }
  }
}

}  // namespace pliant::pbd
