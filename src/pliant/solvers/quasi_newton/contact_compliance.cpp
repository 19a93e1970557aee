#include "pliant/solvers/quasi_newton/contact_compliance.hpp"

#include <algorithm>
#include <cmath>

#include "pliant/linalg/front.hpp"
#include "pliant/linalg/front_kernels.hpp"

namespace pliant {

namespace {

/// Of columns that are kept, in numbers: beyond, contacts are for a factorisation.
constexpr double kMostNumbers = 6.4e7;
/// Of columns that are made ahead of time, in entries of the factor that are read.
constexpr double kMostAhead = 4e9;
/// The cube of the number of nodes that contacts touch, over the operations of a factorisation, up to which this pays.
constexpr double kFlops = 4;

/// b becomes L^{-1} b for three columns.
void forward(Index n, const double* L, Eigen::MatrixXd& b) {
  for (Index j = 0; j < n; ++j) {
    const double* column = L + std::int64_t(j) * n;
    for (int c = 0; c < 3; ++c) {
      double* x = b.data() + std::int64_t(c) * n;
      const double value = x[j] /= column[j];
      for (Index i = j + 1; i < n; ++i) x[i] -= column[i] * value;
    }
  }
}

/// b becomes L^{-T} b.
void backward(Index n, const double* L, Eigen::MatrixXd& b) {
  for (Index j = n - 1; j >= 0; --j) {
    const double* column = L + std::int64_t(j) * n;
    for (int c = 0; c < 3; ++c) {
      double* x = b.data() + std::int64_t(c) * n;
      double sum = x[j];
      for (Index i = j + 1; i < n; ++i) sum -= column[i] * x[i];
      x[j] = sum / column[j];
    }
  }
}

/// b becomes L b.
void multiply_lower(Index n, const double* L, Eigen::MatrixXd& b) {
  for (Index j = n - 1; j >= 0; --j) {
    const double* column = L + std::int64_t(j) * n;
    for (int c = 0; c < 3; ++c) {
      double* x = b.data() + std::int64_t(c) * n;
      const double value = x[j];
      x[j] = column[j] * value;
      for (Index i = j + 1; i < n; ++i) x[i] += column[i] * value;
    }
  }
}

bool cholesky(Index n, double* A, double* workspace) {
  return eliminate_llt({n, 0, A, n, nullptr, false}, workspace, nullptr);
}

}  // namespace

void ContactCompliance::set_model(std::vector<Index> surface, std::vector<Index> order, double flops) {
  const std::size_t nodes = order.size();
  surface_ = std::move(surface);
  order_ = std::move(order);
  flops_ = flops;
  place_.assign(nodes, -1);
  for (std::size_t k = 0; k < surface_.size(); ++k) place_[at(surface_[k])] = static_cast<Index>(k);
  number_.assign(nodes, -1);
}

FactorStatus ContactCompliance::set_constant(const BlockMatrix& A0, std::span<const std::uint8_t> held) {
  if (held_.empty()) factor_.analyze_in_order(A0.shared_pattern(), 1, order_);
  held_.assign(held.begin(), held.end());
  columns_.assign((surface_.size() + kGroup - 1) / kGroup, {});
  const FactorStatus status = factor_.factor(A0);
  has_constant_ = status == FactorStatus::ok;
  return status;
}

void ContactCompliance::prepare_columns() {
  const double size = static_cast<double>(surface_.size());
  if (size * size > kMostNumbers || size * static_cast<double>(factor_.statistics().factor_entries) > kMostAhead)
    return;
  for (std::size_t g = 0; g < columns_.size(); ++g) solve_group(static_cast<Index>(g));
}

void ContactCompliance::solve_group(Index group) {
  std::vector<double>& numbers = columns_[at(group)];
  if (!numbers.empty()) return;
  const std::size_t begin = at(group) * kGroup, end = std::min(begin + kGroup, surface_.size());
  Eigen::MatrixXd b = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(place_.size()), kGroup);
  for (std::size_t k = begin; k < end; ++k)
    if (!held_[at(surface_[k])]) b(surface_[k], static_cast<Eigen::Index>(k - begin)) = 1;
  factor_.solve(b);
  numbers.resize((end - begin) * surface_.size());
  for (std::size_t k = begin; k < end; ++k)
    for (std::size_t i = 0; i < surface_.size(); ++i)
      numbers[(k - begin) * surface_.size() + i] = b(surface_[i], static_cast<Eigen::Index>(k - begin));
}

const double* ContactCompliance::column(Index node) {
  const Index place = place_[at(node)];
  solve_group(place / kGroup);
  return columns_[at(place / kGroup)].data() + at(place % kGroup) * surface_.size();
}

/// False where one of them is not of the surface.
bool ContactCompliance::find_nodes(const ContactSprings& springs) {
  for (Index i : nodes_) number_[at(i)] = -1;
  nodes_.clear();
  for (const auto& nodes : springs.nodes)
    for (Index i : nodes) {
      if (i < 0 || held_[at(i)] || number_[at(i)] >= 0) continue;
      if (place_[at(i)] < 0) return false;
      number_[at(i)] = 0;
      nodes_.push_back(i);
    }
  std::sort(nodes_.begin(), nodes_.end());
  for (std::size_t k = 0; k < nodes_.size(); ++k) number_[at(nodes_[k])] = static_cast<Index>(k);
  return true;
}

bool ContactCompliance::serves(const ContactSprings& springs) {
  const double size = static_cast<double>(surface_.size());
  if (size * size > kMostNumbers || !find_nodes(springs)) return false;
  const double n = static_cast<double>(nodes_.size());
  return n * n * n < kFlops * flops_;
}

/// Of K, entry by entry.
void ContactCompliance::add_stiffness(const ContactSprings& springs) {
  entries_.clear();
  values_.clear();
  for (std::size_t s = 0; s < springs.size(); ++s)
    for (std::size_t k = 0; k < kContactNodes; ++k)
      for (std::size_t l = 0; l < kContactNodes; ++l) {
        const Index i = springs.nodes[s][k], j = springs.nodes[s][l];
        if (i < 0 || j < 0 || held_[at(i)] || held_[at(j)]) continue;
        entries_.push_back({number_[at(i)], number_[at(j)]});
        values_.push_back(springs.stiffness[s] * springs.weight[s][k] * springs.weight[s][l]);
      }
}

bool ContactCompliance::set_springs(const ContactSprings& springs) {
  if (!find_nodes(springs)) return false;
  const auto n = static_cast<Index>(nodes_.size());
  if (n == 0) return true;
  const auto count = at(n) * at(n);
  const std::int64_t distance = dense::panel_distance(n);
  if (capacity_ < at(n)) {
    capacity_ = at(n) + at(n) / 4;
    const auto most = static_cast<Index>(capacity_);
    S_ = make_aligned_array(capacity_ * capacity_);
    Y_ = make_aligned_array(capacity_ * capacity_);
    M_ = make_aligned_array(capacity_ * capacity_);
    packed_ = make_aligned_array(2 * static_cast<std::size_t>(dense::panels(most) * dense::panel_distance(most)));
    workspace_ = make_aligned_array(llt_workspace(most, 0));
  }
  // S, and its factor U^T.
  double *S = S_.get(), *Y = Y_.get(), *M = M_.get();
  for (Index j = 0; j < n; ++j) {
    const double* z = column(nodes_[at(j)]);
    // Of two equal entries, that of the later column.
    for (Index i = 0; i <= j; ++i) S[at(i) * at(n) + at(j)] = z[place_[at(nodes_[at(i)])]];
  }
  if (!cholesky(n, S, workspace_.get())) return false;
  // U, the transpose, and Y = - U K.
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i <= j; ++i) M[at(j) * at(n) + at(i)] = S[at(i) * at(n) + at(j)];
    for (Index i = j + 1; i < n; ++i) M[at(j) * at(n) + at(i)] = 0;
  }
  add_stiffness(springs);
  std::fill_n(Y, count, 0.0);
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    const double *u = M + at(entries_[e][0]) * at(n), value = values_[e];
    double* y = Y + at(entries_[e][1]) * at(n);
    for (Index i = 0; i <= entries_[e][0]; ++i) y[i] -= value * u[i];
  }
  double *left = packed_.get(), *right = left + dense::panels(n) * distance;
  dense::pack_rows(n, n, Y, n, left, distance);
  dense::pack_rows(n, n, M, n, right, distance);
  std::fill_n(M, count, 0.0);
  for (Index i = 0; i < n; ++i) M[at(i) * at(n) + at(i)] = 1;
  dense::subtract_product(n, n, n, left, distance, right, distance, M, n, dense::Part::lower);
  return cholesky(n, M, workspace_.get());
}

void ContactCompliance::solve(const VecX& q, VecX& r) {
  factor_.solve_coordinates(q, r);
  const auto n = static_cast<Index>(nodes_.size());
  if (n == 0) return;
  moved_.resize(n, 3);
  for (Index k = 0; k < n; ++k) moved_.row(k) = node(r, nodes_[at(k)]).transpose();
  forward(n, S_.get(), moved_);
  forward(n, M_.get(), moved_);
  backward(n, M_.get(), moved_);
  multiply_lower(n, S_.get(), moved_);
  force_ = q;
  for (std::size_t e = 0; e < entries_.size(); ++e)
    node(force_, nodes_[at(entries_[e][0])]) -= values_[e] * moved_.row(entries_[e][1]).transpose();
  factor_.solve_coordinates(force_, r);
}

}  // namespace pliant
