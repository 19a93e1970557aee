#pragma once

#include "pliant/math/batch.hpp"

namespace pliant {

/// Singular values of a batch, largest first; the last carries the sign of the determinant.
using Batch3 = Batch<3>;
/// Symmetric 3x3 matrices of a batch, upper triangle: 00, 01, 11, 02, 12, 22.
using Batch6 = Batch<6>;

/// F = U diag(s) V^T with rotations U and V (det = 1) and s1 >= s2 >= |s3|, accurate to a few ulp of s1 for every F
/// whose entries, squared twice, neither overflow nor underflow. NaN in, NaN out (in U and s).
void rotation_svd(const Batch9& F, Batch9& U, Batch3& s, Batch9& V);

/// F = R S with the rotation R nearest to F and S symmetric (indefinite where det F < 0).
void polar(const Batch9& F, Batch9& R, Batch6& S);

}  // namespace pliant
