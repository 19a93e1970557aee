#include "pliant/linalg/dense_kernels.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>

namespace pliant::dense {
namespace {

blasint narrow(std::int64_t i) { return static_cast<blasint>(i); }

/// Column by column, for blocks that fit the first-level cache.
bool small_cholesky(Index n, double* a, std::int64_t stride) {
  for (Index j = 0; j < n; ++j) {
    double* column = a + j * stride;
    const double pivot = column[j];
    if (!(pivot > 0)) return false;  // also when it is not a number
    const double root = std::sqrt(pivot), scale = 1 / root;
    column[j] = root;
    for (Index i = j + 1; i < n; ++i) column[i] *= scale;
    for (Index k = j + 1; k < n; ++k) {
      double* target = a + k * stride;
      const double factor = column[k];
      for (Index i = k; i < n; ++i) target[i] -= factor * column[i];
    }
  }
  return true;
}

}  // namespace

bool cholesky(Index n, double* a, std::int64_t stride) {
  constexpr Index base = 24;
  if (n <= base) return small_cholesky(n, a, stride);
  const Index half = (n / 2 + base - 1) / base * base, rest = n - half;
  double* below = a + half;
  double* trailing = a + half + half * stride;
  if (!cholesky(half, a, stride)) return false;
  solve_right_transposed(rest, half, a, stride, below, stride);
  subtract_square(rest, half, below, stride, trailing, stride);
  return cholesky(rest, trailing, stride);
}

void solve_right_transposed(Index rows, Index n, const double* l, std::int64_t l_stride, double* x,
                            std::int64_t x_stride) {
  if (rows == 0 || n == 0) return;
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rows, n, 1.0, l, narrow(l_stride), x,
              narrow(x_stride));
}

void subtract_product(Index rows, Index columns, Index depth, const double* a, std::int64_t a_stride, const double* b,
                      std::int64_t b_stride, double* c, std::int64_t c_stride) {
  if (rows == 0 || columns == 0 || depth == 0) return;
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, rows, columns, depth, -1.0, a, narrow(a_stride), b,
              narrow(b_stride), 1.0, c, narrow(c_stride));
}

void subtract_square(Index n, Index depth, const double* a, std::int64_t a_stride, double* c, std::int64_t c_stride) {
  if (n == 0 || depth == 0) return;
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, depth, -1.0, a, narrow(a_stride), 1.0, c, narrow(c_stride));
}

void solve_lower(Index n, Index columns, const double* l, std::int64_t l_stride, double* x, std::int64_t x_stride) {
  if (n == 0) return;
  if (columns == 1) {
    cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, l, narrow(l_stride), x, 1);
  } else {
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, n, columns, 1.0, l, narrow(l_stride),
                x, narrow(x_stride));
  }
}

void solve_lower_transposed(Index n, Index columns, const double* l, std::int64_t l_stride, double* x,
                            std::int64_t x_stride) {
  if (n == 0) return;
  if (columns == 1) {
    cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, n, l, narrow(l_stride), x, 1);
  } else {
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, n, columns, 1.0, l, narrow(l_stride), x,
                narrow(x_stride));
  }
}

void subtract_apply(Index rows, Index columns, Index depth, const double* a, std::int64_t a_stride, const double* x,
                    std::int64_t x_stride, double* y, std::int64_t y_stride) {
  if (rows == 0 || depth == 0) return;
  if (columns == 1) {
    cblas_dgemv(CblasColMajor, CblasNoTrans, rows, depth, -1.0, a, narrow(a_stride), x, 1, 1.0, y, 1);
  } else {
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, rows, columns, depth, -1.0, a, narrow(a_stride), x,
                narrow(x_stride), 1.0, y, narrow(y_stride));
  }
}

void subtract_apply_transposed(Index rows, Index columns, Index depth, const double* a, std::int64_t a_stride,
                               const double* x, std::int64_t x_stride, double* y, std::int64_t y_stride) {
  if (rows == 0 || depth == 0) return;
  if (columns == 1) {
    cblas_dgemv(CblasColMajor, CblasTrans, depth, rows, -1.0, a, narrow(a_stride), x, 1, 1.0, y, 1);
  } else {
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, rows, columns, depth, -1.0, a, narrow(a_stride), x,
                narrow(x_stride), 1.0, y, narrow(y_stride));
  }
}

void use_one_thread() { [[maybe_unused]] static const bool done = (openblas_set_num_threads(1), true); }

}  // namespace pliant::dense
