#include "pliant/linalg/pcg.hpp"

#include <cassert>
#include <cmath>

#include "pliant/linalg/vector_kernels.hpp"
#include "pliant/math/parallel.hpp"

namespace pliant {
namespace {

constexpr Index sum_chunk = 8192;

/// Runs body(begin, length) over chunks and returns the sum of what it returns.
template <class Body>
double sum_over(Eigen::Index size, std::vector<double>& partial, Body&& body) {
  const auto count = static_cast<Index>(size);
  partial.resize(static_cast<std::size_t>((count + sum_chunk - 1) / sum_chunk));
  for_chunks(count, sum_chunk, [&](Index begin, Index end) {
    partial[static_cast<std::size_t>(begin / sum_chunk)] = body(begin, end - begin);
  });
  double sum = 0;
  for (double p : partial) sum += p;
  return sum;
}

template <class T>
double dot(const VectorOf<T>& a, const VectorOf<T>& b, std::vector<double>& partial) {
  return sum_over(a.size(), partial,
                  [&](Index begin, Index length) { return vectors::dot(length, a.data() + begin, b.data() + begin); });
}

}  // namespace

template <class T>
PcgReport Pcg<T>::solve(const BlockProduct<T>& A, const VectorOf<T>& b, VectorOf<T>& x,
                        Preconditioner<T>& preconditioner, const PcgOptions& options) {
  assert(x.size() == b.size());
  PcgReport report;
  const double b_norm = std::sqrt(dot(b, b, partial_));
  if (b_norm == 0) {
    x.setZero();
    return report;
  }
  A.multiply(x, q_);
  r_ = b - q_;
  double r_norm = std::sqrt(dot(r_, r_, partial_));
  report.residual = r_norm / b_norm;
  double rz = 0;
  for (;; ++report.iterations) {
    const auto end = [&](PcgOutcome outcome) {
      report.outcome = outcome;
      return report;
    };
    StepControl::check();
    if (!std::isfinite(report.residual)) return end(PcgOutcome::not_finite);
    if (report.residual <= options.tolerance) return end(PcgOutcome::converged);
    if (report.iterations == options.max_iterations)
      return end(options.tolerance > 0 ? PcgOutcome::iteration_limit : PcgOutcome::converged);
    preconditioner.apply(r_, z_);
    const double last_rz = rz;
    rz = dot(r_, z_, partial_);
    if (!std::isfinite(rz)) return end(PcgOutcome::not_finite);
    if (report.iterations == 0) {
      p_ = z_;
    } else {
      const T beta = static_cast<T>(rz / last_rz);
      sum_over(p_.size(), partial_, [&](Index begin, Index length) {
        vectors::turn(length, beta, z_.data() + begin, p_.data() + begin);
        return 0.0;
      });
    }
    const double curvature = A.multiply(p_, q_);
    if (!std::isfinite(curvature)) return end(PcgOutcome::not_finite);
    if (!(curvature > 0)) {
      if (report.iterations == 0) x += p_;
      return end(PcgOutcome::negative_curvature);
    }
    const T alpha = static_cast<T>(rz / curvature);
    const double rr = sum_over(p_.size(), partial_, [&](Index begin, Index length) {
      return vectors::advance(length, alpha, p_.data() + begin, q_.data() + begin, x.data() + begin, r_.data() + begin);
    });
    report.residual = std::sqrt(rr) / b_norm;
  }
}

template class Pcg<double>;
template class Pcg<float>;

}  // namespace pliant
