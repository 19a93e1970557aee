#include "pliant/linalg/multigrid/multigrid.hpp"

#include <cassert>
#include <cmath>

#include "pliant/linalg/sparse_cholesky.hpp"

namespace pliant {

using multigrid::kSlack;
using multigrid::Level;
using multigrid::Real;

namespace {

constexpr Index kNodeGrain = 512;
/// Of the last level, which is factorised: its nodes, and the operations a block of the finest matrix. A tenth of what
/// the other numbers of the hierarchy take.
constexpr Index kMostCoarsest = 500;
constexpr double kMostFlops = 500;
constexpr int kMostLevels = 12;
constexpr double kThreshold = 0.3;  ///< of strong couplings

}  // namespace

/// The last level, solved by a factorisation in blocks of 3.
struct Multigrid::Coarsest {
  SparseCholesky factor;
  BlockMatrix matrix;
  VecX values;

  void follow(const Level& level) {
    std::vector<Index> nodes;
    for (Index a = 0; a < level.rows.rows(); ++a)
      for (Index c : level.rows.row(a))
        if (c >= a) nodes.insert(nodes.end(), {2 * a, 2 * a + 1, 2 * c, 2 * c + 1});
    const BlockPattern::Cliques cliques[] = {{nodes, 4}};
    const auto pattern = std::make_shared<const BlockPattern>(2 * level.rows.rows(), cliques);
    matrix = BlockMatrix(pattern, 3);
    factor.analyze(pattern, 3);
  }

  /// Where rounding, or a matrix that is not positive definite, leaves no factor, the diagonal is raised.
  void set(const Level& level) {
    const BlockPattern& pattern = matrix.pattern();
    for (double shift = 1e-6; shift < 1e6; shift *= shift < 1e-3 ? 10 : 2) {
      for (Index i = 0; i < pattern.rows(); ++i) {
        const auto row = level.rows.row(i / 2);
        for (std::int64_t k = pattern.diagonal(i); k < pattern.row_start()[at(i) + 1]; ++k) {
          const Index j = pattern.columns()[at(k)];
          const auto found = std::lower_bound(row.begin(), row.end(), j / 2);
          double* to = matrix.block(k);
          if (found == row.end() || *found != j / 2) {
            std::fill(to, to + 9, 0.0);
            continue;
          }
          const Real* from = level.values.data() + 36 * (level.rows.start[at(i / 2)] + (found - row.begin()));
          for (int c = 0; c < 3; ++c)
            for (int r = 0; r < 3; ++r)
              to[3 * c + r] = static_cast<double>(from[6 * (3 * (j % 2) + c) + 3 * (i % 2) + r]);
          if (i == j)
            for (int c = 0; c < 3; ++c) to[4 * c] += shift * std::abs(to[4 * c]);
        }
      }
      if (factor.factor(matrix) == FactorStatus::ok) return;
    }
  }

  void solve(Level& level) {
    const auto size = Eigen::Index(6) * level.rows.rows();
    values = Eigen::Map<const Eigen::Matrix<Real, Eigen::Dynamic, 1>>(level.f.data(), size).cast<double>();
    factor.solve(values);
    Eigen::Map<Eigen::Matrix<Real, Eigen::Dynamic, 1>>(level.x.data(), size) = values.cast<Real>();
  }
};

Multigrid::Multigrid(const BlockMatrix& rest, const VecX& positions) : coarsest_(std::make_unique<Coarsest>()) {
  assert(rest.block_size() == 3);
  BlockProduct<double> A(rest.shared_pattern(), 3);
  A.set(rest);
  levels_.emplace_back();
  levels_.reserve(kMostLevels);
  take_pattern(A);
  set_positions(positions);
  take_values(A);
  for (;;) {
    Level& level = levels_.back();
    level.set();
    if (levels_.size() > 1 && level.rows.rows() <= kMostCoarsest) {
      coarsest_->follow(level);
      if (coarsest_->factor.statistics().flops <= kMostFlops * static_cast<double>(levels_.front().rows.blocks()))
        return;
    }
    if (levels_.size() == kMostLevels) break;
    level.group(kThreshold);
    if (levels_.size() > 1 && level.groups.count > 0.8 * level.rows.rows()) {
      level.groups = {};
      break;
    }
    levels_.emplace_back();
    Level &fine = levels_[levels_.size() - 2], &coarse = levels_.back();
    coarse.b = 6;
    fine.follow_pattern(coarse.rows);
    fine.make_coarse(coarse);
  }
  coarsest_->follow(levels_.back());
}

Multigrid::~Multigrid() = default;

void Multigrid::set_positions(const VecX& positions) {
  multigrid::RigidModes& modes = levels_.front().modes;
  const Index nodes = levels_.front().rows.rows();
  assert(positions.size() == 3 * Eigen::Index(nodes));
  modes.centre.resize(at(nodes));
  modes.length.assign(at(nodes), 0);
  for (Index i = 0; i < nodes; ++i) modes.centre[at(i)] = node(positions, i);
}

void Multigrid::take_pattern(const BlockProduct<double>& A) {
  pattern_ = A.shared_pattern();
  Level& finest = levels_.front();
  finest.b = 3;
  finest.rows.start.assign(at(A.rows()) + 1, 0);
  for (Index i = 0; i < A.rows(); ++i)
    finest.rows.start[at(i) + 1] = finest.rows.start[at(i)] + static_cast<std::int64_t>(A.columns_of(i).size());
  finest.rows.columns.assign(A.columns_of(0).data(), A.columns_of(0).data() + finest.rows.start.back());
}

/// An unknown that couples to no other node is fixed.
void Multigrid::take_values(const BlockProduct<double>& A) {
  Level& finest = levels_.front();
  finest.values.resize(finest.rows.columns.size() * 9 + kSlack);
  finest.modes.fixed.resize(3 * at(A.rows()));
  for_chunks(A.rows(), kNodeGrain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const double* from = A.blocks_of(i);
      Real* to = finest.values.data() + 9 * finest.rows.start[at(i)];
      bool is_fixed[3] = {true, true, true};
      for (Index j : finest.rows.row(i)) {
        for (int e = 0; e < 9; ++e) {
          if (j != i && from[e] != 0) is_fixed[e % 3] = false;
          to[e] = static_cast<Real>(from[e]);
        }
        from += 9;
        to += 9;
      }
      for (int c = 0; c < 3; ++c) finest.modes.fixed[at(3 * std::int64_t(i) + c)] = is_fixed[c];
    }
  });
}

void Multigrid::set(const BlockProduct<double>& A) {
  if (A.shared_pattern() != pattern_) {
    take_pattern(A);
    for (std::size_t l = 0; l + 1 < levels_.size(); ++l) levels_[l].follow_pattern(levels_[l + 1].rows);
    coarsest_->follow(levels_.back());
  }
  take_values(A);
  for (std::size_t l = 0; l + 1 < levels_.size(); ++l) {
    levels_[l].set();
    levels_[l].make_coarse(levels_[l + 1]);
  }
  levels_.back().set();
  coarsest_->set(levels_.back());
}

void Multigrid::cycle(std::size_t l) {
  if (l + 1 == levels_.size()) return coarsest_->solve(levels_[l]);
  Level &fine = levels_[l], &coarse = levels_[l + 1];
  fine.smooth_from_zero();
  fine.restrict_residual(coarse);
  cycle(l + 1);
  fine.add_correction(coarse);
  fine.smooth_on();
}

void Multigrid::apply(const VecX& r, VecX& z) {
  Level& finest = levels_.front();
  const double largest = r.cwiseAbs().maxCoeff(), scale = largest > 0 ? largest : 1;
  Eigen::Map<Eigen::Matrix<Real, Eigen::Dynamic, 1>>(finest.f.data(), r.size()) = (r / scale).cast<Real>();
  cycle(0);
  z = scale * Eigen::Map<const Eigen::Matrix<Real, Eigen::Dynamic, 1>>(finest.x.data(), r.size()).cast<double>();
}

Multigrid::Statistics Multigrid::statistics() const {
  Statistics statistics;
  statistics.levels = static_cast<int>(levels_.size());
  statistics.coarse_nodes = levels_.size() > 1 ? levels_[1].rows.rows() : 0;
  double numbers = 0;
  for (const Level& level : levels_) {
    numbers += static_cast<double>(level.rows.blocks()) * level.b * level.b;
    statistics.bytes += level.bytes();
    statistics.set_up_products += level.products();
  }
  statistics.complexity = numbers / (9.0 * static_cast<double>(levels_.front().rows.blocks()));
  return statistics;
}

}  // namespace pliant
