#include "pliant/linalg/scalar_multigrid.hpp"

#include <algorithm>
#include <cmath>

#include "pliant/linalg/sparse_rows.hpp"
#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

constexpr Index kGrain = 4096;           // rows
constexpr Index kCoarsest = 400;         // nodes that are solved for densely
constexpr Index kMostDense = 3000;       // and at most, where coarsening ends before
constexpr double kStrong = 0.2;          // share of the largest from which on couplings are strong; half on each level
constexpr double kSmoothedShare = 0.15;  // smoothing works on eigenvalues above this share of the largest

SparseRows rows_of(const BlockMatrix& matrix) {
  const BlockPattern& pattern = matrix.pattern();
  SparseRows A;
  A.columns = pattern.rows();
  A.start.resize(at(pattern.rows()) + 1);
  // Eliminated nodes keep their zeros in the pattern, which are left out.
  const auto for_row = [&](Index i, auto&& visit) {
    for (const auto& left : pattern.lower_row(i))
      if (const double a = *matrix.block(left.k); a != 0) visit(left.column, a);
    visit(i, *matrix.block(pattern.diagonal(i)));
    for (std::int64_t k = pattern.diagonal(i) + 1; k < pattern.row_start()[at(i) + 1]; ++k)
      if (const double a = *matrix.block(k); a != 0) visit(pattern.columns()[at(k)], a);
  };
  for_chunks(pattern.rows(), kGrain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      std::int64_t count = 0;
      for_row(i, [&](Index, double) { ++count; });
      A.start[at(i) + 1] = count;
    }
  });
  for (std::size_t i = 1; i < A.start.size(); ++i) A.start[i] += A.start[i - 1];
  A.column.resize(at(A.start.back()));
  A.value.resize(A.column.size());
  for_chunks(pattern.rows(), kGrain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      auto to = at(A.begin(i));
      for_row(i, [&](Index j, double a) {
        A.column[to] = j;
        A.value[to++] = a;
      });
    }
  });
  return A;
}

std::vector<double> diagonal_of(const SparseRows& A) {
  std::vector<double> diagonal(at(A.rows()), 0.0);
  for_chunks(A.rows(), kGrain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      for (std::int64_t k = A.begin(i); k < A.end(i); ++k)
        if (A.column[at(k)] == i) diagonal[at(i)] = A.value[at(k)];
  });
  return diagonal;
}

/// Of D^{-1} A, by power iteration from a fixed vector, with a tenth more since it comes from below; never more than
/// Gershgorin's bound.
double largest_eigenvalue(const SparseRows& A, std::span<const double> diagonal) {
  constexpr int kIterations = 10;
  const Index n = A.rows();
  std::vector<double> v(at(n)), w(at(n));
  for (Index i = 0; i < n; ++i) v[at(i)] = std::sin(12.9898 * (i + 1.0) * (i + 1.0));
  double estimate = 0, bound = 0;
  for (Index i = 0; i < n; ++i) {
    double sum = 0;
    for (std::int64_t k = A.begin(i); k < A.end(i); ++k) sum += std::abs(A.value[at(k)]);
    bound = std::max(bound, sum / diagonal[at(i)]);
  }
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const double norm2 = sum_chunks(n, kGrain, [&](Index begin, Index end) {
      double sum = 0;
      for (Index i = begin; i < end; ++i) {
        double y = 0;
        for (std::int64_t k = A.begin(i); k < A.end(i); ++k) y += A.value[at(k)] * v[at(A.column[at(k)])];
        w[at(i)] = y / diagonal[at(i)];
        sum += w[at(i)] * w[at(i)];
      }
      return sum;
    });
    const double old2 = sum_chunks(n, kGrain, [&](Index begin, Index end) {
      double sum = 0;
      for (Index i = begin; i < end; ++i) sum += v[at(i)] * v[at(i)];
      return sum;
    });
    estimate = std::sqrt(norm2 / old2);
    const double scale = norm2 > 0 ? 1 / std::sqrt(norm2) : 0;
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = scale * w[i];
  }
  return std::min(1.1 * estimate, bound);
}

/// (1 - omega D^{-1} A') P^, with P^ the near-null vector cut into aggregates and A' the matrix without its weak
/// couplings, which go to the diagonal. `null_vector` becomes that of the next level.
SparseRows smoothed_prolongation(const SparseRows& A, std::span<const double> diagonal, const Aggregates& groups,
                                 std::span<const std::uint8_t> strong, std::vector<double>& null_vector) {
  const Index n = A.rows();
  std::vector<double> norm(at(groups.count), 0.0);
  for (Index i = 0; i < n; ++i)
    if (const Index g = groups.of_node[at(i)]; g >= 0) norm[at(g)] += null_vector[at(i)] * null_vector[at(i)];
  for (double& value : norm) value = std::sqrt(value);
  SparseRows tentative;
  tentative.columns = groups.count;
  for (Index i = 0; i < n; ++i) {
    if (const Index g = groups.of_node[at(i)]; g >= 0) {
      tentative.column.push_back(g);
      tentative.value.push_back(null_vector[at(i)] / norm[at(g)]);
    }
    tentative.start.push_back(static_cast<std::int64_t>(tentative.column.size()));
  }
  // 1 - omega D'^{-1} A', row by row, on the strong couplings of A.
  SparseRows smoother;
  smoother.columns = n;
  std::vector<double> filtered(at(n));
  double bound = 1;
  for (Index i = 0; i < n; ++i) {
    double d = diagonal[at(i)], sum = 0;
    for (std::int64_t k = A.begin(i); k < A.end(i); ++k) {
      if (A.column[at(k)] == i) continue;
      if (strong[at(k)])
        sum += std::abs(A.value[at(k)]);
      else
        d += A.value[at(k)];
    }
    // Positive couplings that are weak may leave nothing of a diagonal.
    filtered[at(i)] = std::max(d, 0.1 * diagonal[at(i)]);
    bound = std::max(bound, 1 + sum / filtered[at(i)]);
  }
  const double omega = 4.0 / 3 / bound;
  for (Index i = 0; i < n; ++i) {
    if (groups.of_node[at(i)] >= 0)
      for (std::int64_t k = A.begin(i); k < A.end(i); ++k) {
        const Index j = A.column[at(k)];
        if (j != i && !strong[at(k)]) continue;
        smoother.column.push_back(j);
        smoother.value.push_back(j == i ? 1 - omega : -omega * A.value[at(k)] / filtered[at(i)]);
      }
    smoother.start.push_back(static_cast<std::int64_t>(smoother.column.size()));
  }
  null_vector = std::move(norm);
  return product(smoother, tentative);
}

}  // namespace

ScalarMultigrid::Matrix::Matrix(const SparseRows& A)
    : start(A.start), column(A.column), value(A.value.begin(), A.value.end()) {}

void ScalarMultigrid::set(const BlockMatrix& matrix) {
  levels_.clear();
  is_usable_ = has_coarsest_ = false;
  SparseRows A = rows_of(matrix);
  std::vector<double> null_vector(at(A.rows()), 1.0);
  for (double share = kStrong;; share /= 2) {
    const std::vector<double> diagonal = diagonal_of(A);
    for (double d : diagonal)
      if (!(d > 0)) return;
    Level& level = levels_.emplace_back();
    const auto n = at(A.rows());
    for (double d : diagonal) level.inverse_diagonal.push_back(static_cast<float>(1 / d));
    level.A = Matrix(A);
    level.x.resize(n);
    level.b.resize(n);
    level.r.resize(n);
    level.d.resize(n);
    level.largest = largest_eigenvalue(A, diagonal);
    if (A.rows() <= kCoarsest) break;
    const std::vector<std::uint8_t> strong = strong_entries(A, diagonal, share);
    const Aggregates groups = aggregate(A, strong);
    if (groups.count == 0 || groups.count > A.rows() / 2) break;
    const SparseRows P = smoothed_prolongation(A, diagonal, groups, strong, null_vector), R = transposed(P);
    A = product(R, product(A, P));
    level.prolongation = Matrix(P);
    level.restriction = Matrix(R);
  }
  is_usable_ = true;
  if (A.rows() > kMostDense) return;
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(A.rows(), A.rows());
  for (Index i = 0; i < A.rows(); ++i)
    for (std::int64_t k = A.begin(i); k < A.end(i); ++k) dense(i, A.column[at(k)]) += A.value[at(k)];
  coarsest_.factor(dense);
  has_coarsest_ = true;
  // A body that nothing holds leaves a pivot that is rounding of its row alone.
  const Eigen::ArrayXd pivots = coarsest_.diagonal().array().square();
  is_usable_ = coarsest_.is_valid() && (pivots > 1e-10 * dense.diagonal().array()).all();
}

/// use(i, (A x)_i) for every row.
template <class Use>
void ScalarMultigrid::multiply(const Matrix& A, const Vector& x, Use&& use) {
  for_chunks(A.rows(), kGrain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      Eigen::Array4f sum = Eigen::Array4f::Zero();
      for (std::int64_t k = A.start[at(i)]; k < A.start[at(i) + 1]; ++k)
        sum += A.value[at(k)] * Eigen::Array4f::MapAligned(x[at(A.column[at(k)])].v);
      use(at(i), sum);
    }
  });
}

double ScalarMultigrid::dot(const Vector& a, const Vector& b) {
  return sum_chunks(static_cast<Index>(a.size()), kGrain, [&](Index begin, Index end) {
    double sum = 0;
    for (auto i = at(begin); i < at(end); ++i)
      for (int c = 0; c < 3; ++c) sum += static_cast<double>(a[i].v[c]) * static_cast<double>(b[i].v[c]);
    return sum;
  });
}

/// Two steps of Chebyshev's method for D^{-1} A x = D^{-1} b on the upper part of the spectrum; r is left as the
/// residual before the last correction d.
void ScalarMultigrid::smooth(Level& level, bool starts_at_zero) {
  const double high = level.largest, low = kSmoothedShare * high;
  const double theta = (high + low) / 2, delta = (high - low) / 2, sigma = theta / delta;
  const double rho = 1 / (2 * sigma - 1 / sigma);
  const auto first = static_cast<float>(1 / theta), again = static_cast<float>(rho / sigma),
             step = static_cast<float>(2 * rho / delta);
  const auto array = [](Float4& f) { return Eigen::Array4f::MapAligned(f.v); };
  const std::vector<float>& D = level.inverse_diagonal;
  if (starts_at_zero) {
    for_chunks(level.A.rows(), kGrain, [&](Index begin, Index end) {
      for (auto i = at(begin); i < at(end); ++i) {
        array(level.r[i]) = array(level.b[i]);
        array(level.d[i]) = array(level.x[i]) = first * D[i] * array(level.r[i]);
      }
    });
  } else {
    multiply(level.A, level.x,
             [&](std::size_t i, const Eigen::Array4f& Ax) { array(level.r[i]) = array(level.b[i]) - Ax; });
    for_chunks(level.A.rows(), kGrain, [&](Index begin, Index end) {
      for (auto i = at(begin); i < at(end); ++i) {
        array(level.d[i]) = first * D[i] * array(level.r[i]);
        array(level.x[i]) += array(level.d[i]);
      }
    });
  }
  multiply(level.A, level.d, [&](std::size_t i, const Eigen::Array4f& Ad) { array(level.r[i]) -= Ad; });
  for_chunks(level.A.rows(), kGrain, [&](Index begin, Index end) {
    for (auto i = at(begin); i < at(end); ++i) {
      array(level.d[i]) = again * array(level.d[i]) + step * D[i] * array(level.r[i]);
      array(level.x[i]) += array(level.d[i]);
    }
  });
}

/// x = M^{-1} b on level l: a V-cycle, symmetric.
void ScalarMultigrid::cycle(std::size_t l) {
  Level& level = levels_[l];
  if (l + 1 == levels_.size() && has_coarsest_) return solve_coarsest(level);
  smooth(level, true);
  if (l + 1 == levels_.size()) return;
  Level& next = levels_[l + 1];
  const auto array = [](Float4& f) { return Eigen::Array4f::MapAligned(f.v); };
  multiply(level.A, level.d, [&](std::size_t i, const Eigen::Array4f& Ad) { array(level.r[i]) -= Ad; });
  multiply(level.restriction, level.r, [&](std::size_t i, const Eigen::Array4f& Rr) { array(next.b[i]) = Rr; });
  cycle(l + 1);
  multiply(level.prolongation, next.x, [&](std::size_t i, const Eigen::Array4f& Pe) { array(level.x[i]) += Pe; });
  smooth(level, false);
}

void ScalarMultigrid::solve_coarsest(Level& level) {
  const auto n = static_cast<Eigen::Index>(level.b.size());
  Eigen::MatrixXd values(n, 3);
  for (Eigen::Index i = 0; i < n; ++i)
    for (int c = 0; c < 3; ++c) values(i, c) = static_cast<double>(level.b[at(i)].v[c]);
  coarsest_.solve_in_place(values);
  for (Eigen::Index i = 0; i < n; ++i)
    for (int c = 0; c < 3; ++c) level.x[at(i)].v[c] = static_cast<float>(values(i, c));
}

int ScalarMultigrid::solve(const VecX& b, VecX& x, double tolerance, int most_iterations) {
  x.setZero(b.size());
  const double scale = b.size() > 0 ? b.cwiseAbs().maxCoeff() : 0;
  if (!(scale > 0) || !std::isfinite(scale)) {
    if (scale != 0) x = b;  // not finite: neither is the solution
    return 0;
  }
  Level& finest = levels_.front();
  const std::size_t n = finest.b.size();
  for (Vector* v : {&x_, &r_, &p_, &q_}) v->assign(n, Float4{});
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < 3; ++c)
      r_[i].v[c] = static_cast<float>(b[static_cast<Eigen::Index>(3 * i + c)] / scale);
  const auto array = [](Float4& f) { return Eigen::Array4f::MapAligned(f.v); };
  const double enough = tolerance * tolerance * dot(r_, r_);
  double rho = 0;
  int iterations = 0;
  while (iterations < most_iterations) {
    ++iterations;
    std::copy(r_.begin(), r_.end(), finest.b.begin());
    cycle(0);
    const double next_rho = dot(r_, finest.x);
    const auto beta = static_cast<float>(iterations == 1 ? 0 : next_rho / rho);
    rho = next_rho;
    for_chunks(static_cast<Index>(n), kGrain, [&](Index begin, Index end) {
      for (auto i = at(begin); i < at(end); ++i) array(p_[i]) = array(finest.x[i]) + beta * array(p_[i]);
    });
    multiply(finest.A, p_, [&](std::size_t i, const Eigen::Array4f& Ap) { array(q_[i]) = Ap; });
    const double curvature = dot(p_, q_);
    if (!(curvature > 0) || !(rho > 0)) break;  // rounding is all that is left
    const auto alpha = static_cast<float>(rho / curvature);
    for_chunks(static_cast<Index>(n), kGrain, [&](Index begin, Index end) {
      for (auto i = at(begin); i < at(end); ++i) {
        array(x_[i]) += alpha * array(p_[i]);
        array(r_[i]) -= alpha * array(q_[i]);
      }
    });
    if (dot(r_, r_) <= enough) break;
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < 3; ++c)
      x[static_cast<Eigen::Index>(3 * i + c)] = scale * static_cast<double>(x_[i].v[c]);
  return iterations;
}

std::int64_t ScalarMultigrid::bytes() const {
  const auto of = [](const Matrix& A) { return 8 * (A.start.size() + A.value.size()); };
  std::size_t sum = 0;
  for (const Level& level : levels_)
    sum += of(level.A) + of(level.prolongation) + of(level.restriction) + (4 + 4 * sizeof(Float4)) * level.x.size();
  if (!levels_.empty()) sum += 4 * sizeof(Float4) * levels_.front().x.size();
  return static_cast<std::int64_t>(sum);
}

double ScalarMultigrid::complexity() const {
  double sum = 0;
  for (const Level& level : levels_) sum += static_cast<double>(level.A.value.size());
  return levels_.empty() ? 0 : sum / static_cast<double>(levels_.front().A.value.size());
}

}  // namespace pliant
