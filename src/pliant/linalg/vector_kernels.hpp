#pragma once

#include "pliant/math/types.hpp"

/// The passes of conjugate gradients over vectors, for ranges of them, in double and float. Inner products are summed
/// in double, in eight parts that depend on no instruction set.
namespace pliant::vectors {

double dot(Index count, const float* a, const float* b);
double dot(Index count, const double* a, const double* b);
/// x += alpha p, r -= alpha q; returns r.r
double advance(Index count, float alpha, const float* p, const float* q, float* x, float* r);
double advance(Index count, double alpha, const double* p, const double* q, double* x, double* r);
/// p = z + beta p
void turn(Index count, float beta, const float* z, float* p);
void turn(Index count, double beta, const double* z, double* p);
/// z = D r for `nodes` blocks of 3 x 3, column by column. One number past the end of D is read.
void multiply_blocks(Index nodes, const float* D, const float* r, float* z);
void multiply_blocks(Index nodes, const double* D, const double* r, double* z);

}  // namespace pliant::vectors
