#include "pliant/linalg/multigrid/level.hpp"

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <cmath>

#include "pliant/linalg/multigrid/diagonal_block.hpp"

namespace pliant::multigrid {
namespace {

constexpr Index kRowGrain = 512, kCoarseGrain = 32;
/// Degree of the smoother, and which part of the spectrum it is for: [largest / kSmoothed, largest].
constexpr int kDegree = 2;
constexpr double kSmoothed = 10;
/// Damping of the step that smooths prolongations, over the estimate of the largest eigenvalue, which is a tenth too
/// large.
constexpr double kProlongationDamping = 1.6;

template <int B>
void invert_blocks(Range range, const Level& level, std::vector<Real>& inverse) {
  using Block = Eigen::Matrix<double, B, B>;
  using Stored = Eigen::Matrix<Real, B, B>;
  for (Index i = range.begin; i < range.end; ++i) {
    const auto row = level.rows.row(i);
    const auto k = level.rows.start[at(i)] + (std::lower_bound(row.begin(), row.end(), i) - row.begin());
    const Block a = Eigen::Map<const Stored>(level.values.data() + B * B * k).template cast<double>();
    Eigen::Map<Stored>(inverse.data() + B * B * std::int64_t(i)) = inverse_of_diagonal<B>(a).template cast<Real>();
  }
}

double dot(const std::vector<Real>& u, const std::vector<Real>& v, Index size) {
  return sum_chunks(size, 8192, [&](Index begin, Index end) {
    double sum = 0;
    for (Index i = begin; i < end; ++i) sum += double(u[at(i)]) * double(v[at(i)]);
    return sum;
  });
}

/// Scratch of one thread.
struct Scratch {
  std::vector<Index> position;
  std::vector<Real> blocks;
};

}  // namespace

void Level::group(double threshold) {
  std::vector<Real> norms(rows.columns.size());
  for_chunks(rows.rows(), kRowGrain, [&](Index begin, Index end) {
    for (std::int64_t k = rows.start[at(begin)]; k < rows.start[at(end)]; ++k) {
      double square = 0;
      for (int e = 0; e < b * b; ++e) square += std::pow(double(values[at(b * b * k + e)]), 2);
      norms[at(k)] = static_cast<Real>(std::sqrt(square));
    }
  });
  groups = aggregate(rows, norms, threshold);
}

void Level::follow_pattern(SparseRows& coarse_rows) {
  const Index count = groups.count;
  SparseRows owner;
  for (Index i = 0; i < rows.rows(); ++i) {
    if (groups.of[at(i)] >= 0) owner.columns.push_back(groups.of[at(i)]);
    owner.start.push_back(static_cast<std::int64_t>(owner.columns.size()));
  }
  members_ = SparseColumns(owner, count);
  P_ = collect_rows(rows.rows(), count, [&](Index i, auto&& add) {
    for (Index j : rows.row(i))
      if (groups.of[at(j)] >= 0) add(groups.of[at(j)]);
  });
  P_columns_ = SparseColumns(P_, count);
  AP_ = collect_rows(rows.rows(), count, [&](Index i, auto&& add) {
    for (Index j : rows.row(i))
      for (Index a : P_.row(j)) add(a);
  });
  coarse_rows = collect_rows(count, count, [&](Index a, auto&& add) {
    for (const auto& [i, k] : P_columns_.column(a))
      for (Index c : AP_.row(i)) add(c);
  });
  place_.resize(rows.columns.size());
  own_.resize(at(rows.rows()));
  for_chunks(rows.rows(), kRowGrain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const auto columns = P_.row(i);
      const auto find = [&](Index j) {
        const auto found = std::lower_bound(columns.begin(), columns.end(), groups.of[at(j)]);
        return static_cast<std::int32_t>(found - columns.begin());
      };
      for (std::int64_t k = rows.start[at(i)]; k < rows.start[at(i) + 1]; ++k) {
        const Index j = rows.columns[at(k)];
        place_[at(k)] = groups.of[at(j)] < 0 ? std::uint16_t(0xffff) : static_cast<std::uint16_t>(find(j));
      }
      own_[at(i)] = groups.of[at(i)] < 0 ? -1 : find(i);
    }
  });
  mirror_.resize(coarse_rows.columns.size());
  longest_row_ = 0;
  for (Index a = 0; a < count; ++a) {
    longest_row_ = std::max(longest_row_, coarse_rows.start[at(a) + 1] - coarse_rows.start[at(a)]);
    for (std::int64_t k = coarse_rows.start[at(a)]; k < coarse_rows.start[at(a) + 1]; ++k) {
      const Index c = coarse_rows.columns[at(k)];
      const auto row = coarse_rows.row(c);
      mirror_[at(k)] = coarse_rows.start[at(c)] + (std::lower_bound(row.begin(), row.end(), a) - row.begin());
    }
  }
  for (Index i = 0; i < rows.rows(); ++i)
    longest_row_ = std::max(longest_row_, AP_.start[at(i) + 1] - AP_.start[at(i)]);
  // A P, and one triangle of P^T (A P).
  std::int64_t in_rows = 0, in_triangle = 0;
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index j : rows.row(i)) in_rows += std::ssize(P_.row(j));
    in_triangle += std::ssize(P_.row(i)) * std::ssize(AP_.row(i));
  }
  products_ = 6.0 * b * b * static_cast<double>(in_rows) + 18.0 * b * static_cast<double>(in_triangle);
  P_values_.resize(P_.columns.size() * at(6 * b) + kSlack);
  AP_values_.resize(AP_.columns.size() * at(6 * b) + kSlack);
}

void Level::invert_diagonal() {
  inverse_.resize(at(rows.rows()) * at(b * b) + kSlack);
  for_chunks(rows.rows(), kRowGrain, [&](Index begin, Index end) {
    b == 3 ? invert_blocks<3>({begin, end}, *this, inverse_) : invert_blocks<6>({begin, end}, *this, inverse_);
  });
}

void Level::set() {
  const std::size_t size = at(rows.rows()) * at(b) + kSlack;
  for (auto* v : {&f, &x, &y_, &d_, &r_}) v->resize(size, Real(0));
  invert_diagonal();
  estimate_largest_eigenvalue();
}

/// The largest Ritz value of a few steps of Lanczos's method, by way of conjugate gradients with D as preconditioner.
void Level::estimate_largest_eigenvalue() {
  constexpr int kSteps = 8;
  constexpr double kSafety = 1.1;
  const Index size = b * rows.rows();
  std::vector<Real>&r = r_, &z = d_, &p = x, &q = y_, &zero = f;
  std::fill(zero.begin(), zero.end(), Real(0));
  std::uint32_t seed = 12345;
  for (Index i = 0; i < size; ++i) {
    seed = 1664525u * seed + 1013904223u;
    r[at(i)] = static_cast<Real>(seed >> 8) / Real(1 << 23) - Real(1);
  }
  Eigen::VectorXd diagonal(kSteps), off(kSteps);
  double rz = 0, last_alpha = 0;
  int steps = 0;
  for (; steps < kSteps; ++steps) {
    for_chunks(rows.rows(), kRowGrain, [&](Index begin, Index end) {
      begin_smoothing({begin, end}, view(), {0, 1, r.data(), nullptr, z.data(), q.data()});
    });
    const double last_rz = rz;
    rz = dot(r, z, size);
    const double beta = steps == 0 ? 0 : rz / last_rz;
    for_chunks(size, 8192, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) p[at(i)] = z[at(i)] + (steps == 0 ? 0 : static_cast<Real>(beta) * p[at(i)]);
    });
    for_chunks(rows.rows(), kRowGrain, [&](Index begin, Index end) {
      residual({begin, end}, view(), zero.data(), p.data(), q.data());
    });
    const double curvature = -dot(p, q, size);
    if (!(curvature > 0) || !(rz > 0)) break;
    const double alpha = rz / curvature;
    diagonal[steps] = 1 / alpha + (steps == 0 ? 0 : beta / last_alpha);
    if (steps > 0) off[steps - 1] = std::sqrt(beta) / last_alpha;
    last_alpha = alpha;
    for_chunks(size, 8192, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) r[at(i)] += static_cast<Real>(alpha) * q[at(i)];
    });
  }
  largest_ = 4;  // a bound for tetrahedra
  if (steps > 0) {
    const double found = largest_tridiagonal_eigenvalue(diagonal.head(steps), off.head(steps - 1));
    if (std::isfinite(found) && found > 0) largest_ = kSafety * found;
  }
}

void Level::make_coarse(Level& coarse) {
  tentative_prolongation(modes, groups, members_, Q_, coarse.modes);
  tbb::enumerable_thread_specific<Scratch> scratch([&] {
    return Scratch{std::vector<Index>(at(groups.count)), std::vector<Real>(at(48 * longest_row_) + kSlack)};
  });
  const auto omega = static_cast<Real>(kProlongationDamping / largest_);
  for_chunks(rows.rows(), kRowGrain, [&](Index begin, Index end) {
    smooth_prolongation({begin, end}, view(), Q_.data(), P_.start.data(), place_.data(), own_.data(), omega,
                        scratch.local().blocks.data(), P_values_.data());
  });
  for_chunks(rows.rows(), kRowGrain, [&](Index begin, Index end) {
    Scratch& own = scratch.local();
    multiply_rows({begin, end}, view(), prolongation(), AP_, own.position.data(), own.blocks.data(), AP_values_.data());
  });
  coarse.values.resize(coarse.rows.columns.size() * 36 + kSlack);
  for_chunks(groups.count, kCoarseGrain, [&](Index begin, Index end) {
    Scratch& own = scratch.local();
    galerkin_rows({begin, end}, prolongation(), P_columns_,
                  {b, AP_.start.data(), AP_.columns.data(), AP_values_.data()}, coarse.rows, mirror_.data(),
                  own.position.data(), own.blocks.data(), coarse.values.data());
  });
  // Motions that a group cannot make are in no equation.
  for_chunks(groups.count, kRowGrain, [&](Index begin, Index end) {
    for (Index a = begin; a < end; ++a) {
      const auto row = coarse.rows.row(a);
      const auto k = coarse.rows.start[at(a)] + (std::lower_bound(row.begin(), row.end(), a) - row.begin());
      for (int c = 0; c < 6; ++c) {
        Real& entry = coarse.values[at(36 * k + 7 * c)];
        if (entry == 0) entry = 1;
      }
    }
  });
}

std::int64_t Level::bytes() const {
  std::size_t bytes = 0;
  for (const auto* numbers : {&values, &inverse_, &Q_, &P_values_, &AP_values_, &f, &x, &y_, &d_, &r_})
    bytes += numbers->size() * sizeof(Real);
  for (const SparseRows* matrix : {&rows, &P_, &AP_})
    bytes += matrix->columns.size() * sizeof(Index) + matrix->start.size() * sizeof(std::int64_t);
  bytes += P_columns_.entries.size() * sizeof(SparseColumns::Entry) + place_.size() * sizeof(std::uint16_t);
  return static_cast<std::int64_t>(bytes);
}

void Level::smooth_from_zero() {
  const double upper = largest_, lower = largest_ / kSmoothed;
  const double centre = (upper + lower) / 2, radius = (upper - lower) / 2;
  for_chunks(rows.rows(), kRowGrain, [&](Index begin, Index end) {
    begin_smoothing({begin, end}, view(), {0, static_cast<Real>(1 / centre), f.data(), nullptr, d_.data(), x.data()});
  });
  double rho = radius / centre;
  for (int k = 1; k < kDegree; ++k) {
    const double next = 1 / (2 * centre / radius - rho);
    for_chunks(rows.rows(), kRowGrain, [&](Index begin, Index end) {
      smooth({begin, end}, view(),
             {static_cast<Real>(next * rho), static_cast<Real>(2 * next / radius), f.data(), x.data(), d_.data(),
              y_.data()});
    });
    std::swap(x, y_);
    rho = next;
  }
}

void Level::smooth_on() {
  const double upper = largest_, lower = largest_ / kSmoothed;
  const double centre = (upper + lower) / 2, radius = (upper - lower) / 2;
  double rho = radius / centre;
  for (int k = 0; k < kDegree; ++k) {
    const double next = 1 / (2 * centre / radius - rho);
    const double momentum = k == 0 ? 0 : next * rho, gain = k == 0 ? 1 / centre : 2 * next / radius;
    for_chunks(rows.rows(), kRowGrain, [&](Index begin, Index end) {
      smooth({begin, end}, view(),
             {static_cast<Real>(momentum), static_cast<Real>(gain), f.data(), x.data(), d_.data(), y_.data()});
    });
    std::swap(x, y_);
    if (k > 0) rho = next;
  }
}

void Level::restrict_residual(Level& coarse) {
  for_chunks(rows.rows(), kRowGrain, [&](Index begin, Index end) {
    residual({begin, end}, view(), f.data(), x.data(), r_.data());
  });
  for_chunks(groups.count, kCoarseGrain, [&](Index begin, Index end) {
    restrict_to({begin, end}, prolongation(), P_columns_, r_.data(), coarse.f.data());
  });
}

void Level::add_correction(const Level& coarse) {
  for_chunks(rows.rows(), kRowGrain, [&](Index begin, Index end) {
    add_prolonged({begin, end}, prolongation(), coarse.x.data(), x.data());
  });
}

}  // namespace pliant::multigrid
