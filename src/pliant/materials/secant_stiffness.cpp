#include "pliant/materials/secant_stiffness.hpp"

#include <cmath>

namespace pliant {

namespace {

/// The part of [from, 1] or [1, from] next to 1 on which the function is finite, by bisection.
template <class Function>
double finite_end(double from, const Function& f) {
  if (std::isfinite(f(from))) return from;
  double good = 1, bad = from;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (good + bad);
    (std::isfinite(f(middle)) ? good : bad) = middle;
  }
  return good;
}

/// Five-point Gauss rule on 64 panels: curves with points somewhere in the range lose its high order only in one panel.
template <class Function>
double fit(StretchRange range, const Function& f) {
  constexpr double kPoints[3] = {0, 0.538469310105683, 0.906179845938664};
  constexpr double kWeights[3] = {0.568888888888889, 0.478628670499366, 0.236926885056189};
  constexpr int kPanels = 64;
  const double low = finite_end(range.low, f), high = finite_end(range.high, f), half = (high - low) / (2 * kPanels);
  double moment = 0, square = 0;
  for (int panel = 0; panel < kPanels; ++panel) {
    const double centre = low + (2 * panel + 1) * half;
    for (int q = -2; q <= 2; ++q) {
      const double s = centre + std::copysign(half * kPoints[std::abs(q)], q), w = half * kWeights[std::abs(q)];
      moment += w * (s - 1) * f(s);
      square += w * (s - 1) * (s - 1);
    }
  }
  return moment / square;
}

}  // namespace

double secant_stiffness(const Law& law, const Lame& lame, StretchRange range) {
  Batch<2> parameters;
  for (int p = 0; p < kBatch; ++p) {
    parameters[0][p] = lame.mu;
    parameters[1][p] = lame.lambda;
  }
  return fit(range, [&](double s) {
    Batch9 F = {}, P;
    Batch<1> psi;
    for (int p = 0; p < kBatch; ++p) {
      F[0][p] = s;
      F[4][p] = F[8][p] = 1;
    }
    law.stress(F, parameters, psi, P);
    return std::isfinite(psi[0][0]) ? P[0][0] : psi[0][0];
  });
}

double secant_stiffness(const FibreLaw& law, const FibreParameters& parameters, double activation, StretchRange range) {
  return fit(range, [&](double s) { return law.evaluate(s, parameters, activation).d; });
}

}  // namespace pliant
