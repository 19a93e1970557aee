#pragma once

#include <cstdint>

#include "pliant/math/types.hpp"

/// The dense arithmetic of fronts, one thread each. Matrices are column-major: entry (i, j) is at i + j * stride. Same
/// bits for the same numbers, whatever the addresses.
namespace pliant::dense {

/// The lower triangle of `a` becomes its Cholesky factor; what is above the diagonal is neither read nor written. False
/// at the first pivot that is not positive.
bool cholesky(Index n, double* a, std::int64_t stride);

/// X becomes X L^{-T}: X is rows x n, L lower triangular n x n.
void solve_right_transposed(Index rows, Index n, const double* l, std::int64_t l_stride, double* x,
                            std::int64_t x_stride);

/// C -= A B^T: C is rows x columns, A rows x depth, B columns x depth.
void subtract_product(Index rows, Index columns, Index depth, const double* a, std::int64_t a_stride, const double* b,
                      std::int64_t b_stride, double* c, std::int64_t c_stride);

/// The lower triangle of C -= A A^T: C is n x n, A n x depth. What is above the diagonal may be overwritten.
void subtract_square(Index n, Index depth, const double* a, std::int64_t a_stride, double* c, std::int64_t c_stride);

/// X becomes L^{-1} X: X is n x columns.
void solve_lower(Index n, Index columns, const double* l, std::int64_t l_stride, double* x, std::int64_t x_stride);

/// X becomes L^{-T} X.
void solve_lower_transposed(Index n, Index columns, const double* l, std::int64_t l_stride, double* x,
                            std::int64_t x_stride);

/// Y -= A X: A is rows x depth, X depth x columns.
void subtract_apply(Index rows, Index columns, Index depth, const double* a, std::int64_t a_stride, const double* x,
                    std::int64_t x_stride, double* y, std::int64_t y_stride);

/// Y -= A^T X: A is depth x rows, X depth x columns.
void subtract_apply_transposed(Index rows, Index columns, Index depth, const double* a, std::int64_t a_stride,
                               const double* x, std::int64_t x_stride, double* y, std::int64_t y_stride);

/// Parallelism is between and around these calls, never inside: tells the BLAS to stay on the calling thread.
void use_one_thread();

}  // namespace pliant::dense
