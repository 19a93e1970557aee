#include "pliant/solvers/quasi_newton/lbfgs.hpp"

#include <algorithm>

#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

/// Unknowns of a task; sums are taken per task and then in the order of the tasks.
constexpr Index kHistoryGrain = 12288;
/// Vectors handed to a kernel at once.
constexpr std::size_t kTogether = 30;

std::size_t chunk_count(Eigen::Index size) {
  return static_cast<std::size_t>((size + kHistoryGrain - 1) / kHistoryGrain);
}

}  // namespace

Lbfgs::Lbfgs(int window)
    : window_(static_cast<std::size_t>(window)),
      pairs_(window_),
      products_(window_ * window_),
      sums_(window_),
      weights_(window_),
      zeta_(window_) {}

void Lbfgs::keep(std::size_t newest) {
  if (count_ <= newest) return;
  first_ = (first_ + count_ - newest) % window_;
  count_ = newest;
}

void Lbfgs::remember(double alpha, const VecX& dx, const VecX& g_new, const VecX& g) {
  if (window_ == 0) return;
  if (count_ == window_) keep(window_ - 1);  // the oldest makes room
  Pair& pair = at(count_);
  const auto size = static_cast<Index>(g.size());
  pair.s.resize(static_cast<std::size_t>(size));
  pair.y.resize(static_cast<std::size_t>(size));
  curvatures_.resize(chunk_count(size));
  for_chunks(size, kHistoryGrain, [&](Index begin, Index end) {
    curvatures_[static_cast<std::size_t>(begin / kHistoryGrain)] =
        history::pair(alpha, dx.data() + begin, g_new.data() + begin, g.data() + begin, end - begin,
                      pair.s.data() + begin, pair.y.data() + begin);
  });
  history::Curvature all;
  for (const history::Curvature& c : curvatures_) {
    all.ss += c.ss;
    all.sy += c.sy;
    all.yy += c.yy;
  }
  if (!(all.sy > 0 && all.sy * all.sy > 1e-28 * all.ss * all.yy)) return;
  pair.inverse_curvature = 1 / all.sy;
  pair.scale = all.sy / all.yy;
  ++count_;
  newest_is_new_ = true;
}

/// sums_[k] = (s or y of the k-th oldest) . g
void Lbfgs::dots(const VecX& g, std::vector<float> Pair::*which) {
  const auto size = static_cast<Index>(g.size());
  partial_.resize(chunk_count(size) * window_);
  for_chunks(size, kHistoryGrain, [&](Index begin, Index end) {
    const float* vectors[kTogether];
    double* sums = partial_.data() + static_cast<std::size_t>(begin / kHistoryGrain) * window_;
    for (std::size_t k = 0; k < count_; k += kTogether) {
      const std::size_t n = std::min(kTogether, count_ - k);
      for (std::size_t j = 0; j < n; ++j) vectors[j] = (at(k + j).*which).data() + begin;
      history::dots({vectors, n}, g.data() + begin, end - begin, sums + k);
    }
  });
  for (std::size_t k = 0; k < count_; ++k) {
    sums_[k] = 0;
    for (std::size_t c = 0; c < chunk_count(size); ++c) sums_[k] += partial_[c * window_ + k];
  }
}

/// out = in + sum_k weights_[k] (s or y of the k-th oldest)
void Lbfgs::combine(std::vector<float> Pair::*which, const VecX& in, VecX& out) {
  for_chunks(static_cast<Index>(in.size()), kHistoryGrain, [&](Index begin, Index end) {
    const float* vectors[kTogether];
    const double* from = in.data() + begin;
    for (std::size_t k = 0; k < count_; k += kTogether) {
      const std::size_t n = std::min(kTogether, count_ - k);
      for (std::size_t j = 0; j < n; ++j) vectors[j] = (at(k + j).*which).data() + begin;
      history::combine({vectors, n}, weights_.data() + k, from, end - begin, out.data() + begin);
      from = out.data() + begin;
    }
  });
}

/// From the newest pair to the oldest, with q_k = g - sum_{j > k} zeta_j y_j: zeta_k = s_k . q_k / s_k . y_k.
const VecX& Lbfgs::first_loop(const VecX& g) {
  dots(g, &Pair::s);
  for (std::size_t k = 0; k < count_; ++k) {
    if (newest_is_new_ && k + 1 < count_) product(k, count_ - 1) = sums_[k] - at(k).s_dot_g;
    at(k).s_dot_g = sums_[k];
  }
  newest_is_new_ = false;
  for (std::size_t k = count_; k-- > 0;) {
    double s_dot_q = sums_[k];
    for (std::size_t j = k + 1; j < count_; ++j) s_dot_q -= zeta_[j] * product(k, j);
    zeta_[k] = s_dot_q * at(k).inverse_curvature;
    weights_[k] = -zeta_[k];
  }
  q_.resize(g.size());
  combine(&Pair::y, g, q_);
  return q_;
}

/// From the oldest to the newest, with r_k = r + sum_{j < k} c_j s_j: c_k = zeta_k - y_k . r_k / s_k . y_k.
void Lbfgs::second_loop(VecX& r) {
  dots(r, &Pair::y);
  for (std::size_t k = 0; k < count_; ++k) {
    double y_dot_r = sums_[k];
    for (std::size_t j = 0; j < k; ++j) y_dot_r += weights_[j] * product(j, k);
    weights_[k] = zeta_[k] - y_dot_r * at(k).inverse_curvature;
  }
  combine(&Pair::s, r, r);
}

history::Descent Lbfgs::turn(const VecX& g, VecX& d) {
  const auto size = static_cast<Index>(d.size());
  descents_.resize(chunk_count(size));
  for_chunks(size, kHistoryGrain, [&](Index begin, Index end) {
    descents_[static_cast<std::size_t>(begin / kHistoryGrain)] =
        history::turn(g.data() + begin, end - begin, d.data() + begin);
  });
  history::Descent all;
  for (const history::Descent& part : descents_) {
    all.slope += part.slope;
    if (!(part.largest <= all.largest)) all.largest = part.largest;
  }
  return all;
}

}  // namespace pliant
