#pragma once

#include "pliant/linalg/preconditioner.hpp"

namespace pliant {

struct PcgOptions {
  double tolerance = 1e-6;  ///< on |b - A x| / |b|; 0 runs all iterations
  int max_iterations = 1000;
};

/// `negative_curvature`: a search direction p with p^T A p <= 0 was met, the matrix is not positive definite; x is the
/// iterate before it (the preconditioned right-hand side if it was the first). `not_finite`: numbers overflowed.
enum class PcgOutcome { converged, iteration_limit, negative_curvature, not_finite };

struct PcgReport {
  PcgOutcome outcome = PcgOutcome::converged;
  int iterations = 0;
  double residual = 0;  ///< |b - A x| / |b| as the recurrence has it
};

/// Preconditioned conjugate gradients (Hestenes and Stiefel 1952), in double or float. Inner products are summed in
/// double and in a fixed order: same bits for any number of threads. Allocates at first use only.
template <class T>
class Pcg {
 public:
  /// Solves A x = b; x holds the initial guess.
  PcgReport solve(const BlockProduct<T>& A, const VectorOf<T>& b, VectorOf<T>& x, Preconditioner<T>& preconditioner,
                  const PcgOptions& options);

 private:
  VectorOf<T> r_, z_, p_, q_;
  std::vector<double> partial_;
};

}  // namespace pliant
