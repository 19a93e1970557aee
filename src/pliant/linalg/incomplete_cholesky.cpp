// L_ij = (A_ij - sum_{k<j} L_ik L_jk^T) L_jj^{-T} on the pattern of A, row by row, in blocks of b x b. The triangular
// solutions then go through the rows of a range forwards and backwards.
#include "pliant/linalg/incomplete_cholesky.hpp"

#include <cassert>

#include "pliant/math/parallel.hpp"
#include "pliant/math/small_cholesky.hpp"

namespace pliant {
namespace {

/// Nodes of a range at least, and ranges at most: more ranges are more threads and more dropped couplings.
constexpr Index least_range = 2048;
constexpr Index most_ranges = 16;
/// First share of the diagonal added when a pivot block is not positive definite; doubled until all are.
constexpr double first_shift = 1e-3;

template <class T, int b>
using Block = Eigen::Matrix<T, b, b>;

/// Rows of one range. False when a pivot block is not positive definite with this shift.
template <class T, int b>
bool factor_range(const BlockProduct<T>& A, Range range, T shift, const std::vector<std::int64_t>& start,
                  const std::vector<Index>& columns, std::vector<T>& lower, std::vector<T>& inverse) {
  const auto block = [](auto* values, std::int64_t k) {
    using Value =
        std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(values)>>, const Block<T, b>, Block<T, b>>;
    return Eigen::Map<Value>(values + k * b * b);
  };
  for (Index i = range.begin; i < range.end; ++i) {
    const auto row_columns = A.columns_of(i);
    const T* from = A.blocks_of(i);
    std::size_t source = 0;
    for (std::int64_t e = start[at(i)]; e < start[at(i) + 1]; ++e) {
      const Index j = columns[at(e)];
      while (row_columns[source] != j) ++source;
      Block<T, b> sum = block(from, static_cast<std::int64_t>(source));
      // The columns rows i and j have in common, both ascending.
      std::int64_t p = start[at(i)], q = start[at(j)];
      while (p < e && q < start[at(j) + 1]) {
        if (columns[at(p)] == columns[at(q)]) {
          sum.noalias() -= block(lower.data(), p) * block(lower.data(), q).transpose();
          ++p;
          ++q;
        } else if (columns[at(p)] < columns[at(q)]) {
          ++p;
        } else {
          ++q;
        }
      }
      block(lower.data(), e).noalias() = sum * block(inverse.data(), j).transpose();
    }
    while (row_columns[source] != i) ++source;
    Block<T, b> diagonal = block(from, static_cast<std::int64_t>(source));
    diagonal.diagonal() += shift * diagonal.diagonal().cwiseAbs();
    for (std::int64_t e = start[at(i)]; e < start[at(i) + 1]; ++e)
      diagonal.noalias() -= block(lower.data(), e) * block(lower.data(), e).transpose();
    if (!factor_cholesky(diagonal) || !(diagonal.diagonal().minCoeff() > 0)) return false;
    block(inverse.data(), i) = inverse_of_lower(diagonal);
  }
  return true;
}

}  // namespace

template <class T>
Range IncompleteCholesky<T>::range(Index k) const {
  return {static_cast<Index>(std::int64_t(rows_) * k / ranges_),
          static_cast<Index>(std::int64_t(rows_) * (k + 1) / ranges_)};
}

template <class T>
void IncompleteCholesky<T>::prepare(const BlockProduct<T>& A) {
  if (pattern_ == &A.pattern() && block_size_ == A.block_size()) return;
  pattern_ = &A.pattern();
  rows_ = A.rows();
  block_size_ = A.block_size();
  ranges_ = std::clamp<Index>(rows_ / least_range, 1, most_ranges);
  start_.assign(1, 0);
  columns_.clear();
  for (Index k = 0; k < ranges_; ++k) {
    for (Index i = range(k).begin; i < range(k).end; ++i) {
      for (const auto& lower : pattern_->lower_row(i))
        if (lower.column >= range(k).begin) columns_.push_back(lower.column);
      start_.push_back(static_cast<std::int64_t>(columns_.size()));
    }
  }
  const auto numbers = at(block_size_) * at(block_size_);
  lower_.assign(columns_.size() * numbers, T(0));
  inverse_.assign(at(rows_) * numbers, T(0));
  shifts_.assign(at(ranges_), 0.0);
}

template <class T>
void IncompleteCholesky<T>::set(const BlockProduct<T>& A) {
  prepare(A);
  for_chunks(ranges_, 1, [&](Index k, Index) {
    const auto factored = [&](double shift) {
      return block_size_ == 3
                 ? factor_range<T, 3>(A, range(k), static_cast<T>(shift), start_, columns_, lower_, inverse_)
                 : factor_range<T, 1>(A, range(k), static_cast<T>(shift), start_, columns_, lower_, inverse_);
    };
    double shift = 0;
    while (!factored(shift)) {
      shift = shift == 0 ? first_shift : 2 * shift;
      if (shift > 1e6) {  // a zero or infinite diagonal: no preconditioning here
        const int b = block_size_;
        for (std::int64_t e = start_[at(range(k).begin)] * b * b; e < start_[at(range(k).end)] * b * b; ++e)
          lower_[at(e)] = 0;
        for (std::int64_t i = range(k).begin; i < range(k).end; ++i) {
          for (int c = 0; c < b * b; ++c) inverse_[at(i * b * b + c)] = c % (b + 1) == 0 ? T(1) : T(0);
        }
        break;
      }
    }
    shifts_[at(k)] = shift;
  });
  shift_ = 0;
  for (double s : shifts_) shift_ = std::max(shift_, s);
}

template <class T>
void IncompleteCholesky<T>::apply(const VectorOf<T>& r, VectorOf<T>& z) {
  z.resize(r.size());
  const auto solve = [&](auto size) {
    constexpr int b = decltype(size)::value;
    using Vector = Eigen::Matrix<T, b, 1>;
    const auto block = [&](const std::vector<T>& values, std::int64_t k) {
      return Eigen::Map<const Block<T, b>>(values.data() + k * b * b);
    };
    for_chunks(ranges_, 1, [&](Index k, Index) {
      const auto at_node = [&](Index i) { return z.template segment<b>(Eigen::Index(b) * i); };
      for (Index i = range(k).begin; i < range(k).end; ++i) {
        Vector sum = r.template segment<b>(Eigen::Index(b) * i);
        for (std::int64_t e = start_[at(i)]; e < start_[at(i) + 1]; ++e)
          sum.noalias() -= block(lower_, e) * at_node(columns_[at(e)]);
        at_node(i).noalias() = block(inverse_, i) * sum;
      }
      for (Index i = range(k).end - 1; i >= range(k).begin; --i) {
        const Vector x = block(inverse_, i).transpose() * at_node(i);
        at_node(i) = x;
        for (std::int64_t e = start_[at(i)]; e < start_[at(i) + 1]; ++e)
          at_node(columns_[at(e)]).noalias() -= block(lower_, e).transpose() * x;
      }
    });
  };
  if (block_size_ == 3) {
    solve(std::integral_constant<int, 3>{});
  } else {
    solve(std::integral_constant<int, 1>{});
  }
}

template class IncompleteCholesky<double>;
template class IncompleteCholesky<float>;

}  // namespace pliant
