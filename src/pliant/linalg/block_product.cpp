#include "pliant/linalg/block_product.hpp"

#include "pliant/math/parallel.hpp"
#define PLIANT_WAITS_FOR_MEMORY
#include "pliant/math/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pliant/linalg/block_product.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pliant {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Rows [begin, end) of y = A x in 3x3 blocks; returns their part of x^T y. A column of a block is the first three of
/// four lanes; the fourth runs along with the neighbour's numbers and is dropped. Two sums hide the latency.
template <class T>
double product3(Index begin, Index end, const std::int64_t* start, const Index* columns, const T* values, const T* x,
                T* y) {
  const hn::CappedTag<T, 4> d;
  constexpr int lanes = static_cast<int>(hn::MaxLanes(hn::CappedTag<T, 4>()));
  double dot = 0;
  if constexpr (lanes == 4) {
    for (Index i = begin; i < end; ++i) {
      auto even = hn::Zero(d), odd = hn::Zero(d);
      const T* block = values + 9 * start[i];
      std::int64_t k = start[i];
      const auto add = [&](auto sum) HWY_ATTR {
        const T* v = x + 3 * static_cast<std::int64_t>(columns[k]);
        sum = hn::MulAdd(hn::LoadU(d, block), hn::Set(d, v[0]), sum);
        sum = hn::MulAdd(hn::LoadU(d, block + 3), hn::Set(d, v[1]), sum);
        sum = hn::MulAdd(hn::LoadU(d, block + 6), hn::Set(d, v[2]), sum);
        block += 9;
        ++k;
        return sum;
      };
      while (k + 1 < start[i + 1]) {
        even = add(even);
        odd = add(odd);
      }
      if (k < start[i + 1]) even = add(even);
      HWY_ALIGN T row[4];
      hn::Store(hn::Add(even, odd), d, row);
      T* out = y + 3 * static_cast<std::int64_t>(i);
      const T* in = x + 3 * static_cast<std::int64_t>(i);
      for (int c = 0; c < 3; ++c) {
        out[c] = row[c];
        dot += static_cast<double>(row[c]) * static_cast<double>(in[c]);
      }
    }
  } else {
    for (Index i = begin; i < end; ++i) {
      T sum[3] = {0, 0, 0};
      for (std::int64_t k = start[i]; k < start[i + 1]; ++k) {
        const T* v = x + 3 * static_cast<std::int64_t>(columns[k]);
        for (int c = 0; c < 3; ++c) {
          for (int r = 0; r < 3; ++r) sum[r] += values[9 * k + 3 * c + r] * v[c];
        }
      }
      for (int c = 0; c < 3; ++c) {
        y[3 * static_cast<std::int64_t>(i) + c] = sum[c];
        dot += static_cast<double>(sum[c]) * static_cast<double>(x[3 * static_cast<std::int64_t>(i) + c]);
      }
    }
  }
  return dot;
}

double ProductDouble(Index begin, Index end, const std::int64_t* start, const Index* columns, const double* values,
                     const double* x, double* y) {
  return product3(begin, end, start, columns, values, x, y);
}
double ProductFloat(Index begin, Index end, const std::int64_t* start, const Index* columns, const float* values,
                    const float* x, float* y) {
  return product3(begin, end, start, columns, values, x, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace pliant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cassert>

namespace pliant {

HWY_EXPORT(ProductDouble);
HWY_EXPORT(ProductFloat);

namespace {

constexpr Index row_grain = 512;

double product(Index begin, Index end, const std::int64_t* start, const Index* columns, const double* values,
               const double* x, double* y) {
  return HWY_DYNAMIC_DISPATCH(ProductDouble)(begin, end, start, columns, values, x, y);
}
double product(Index begin, Index end, const std::int64_t* start, const Index* columns, const float* values,
               const float* x, float* y) {
  return HWY_DYNAMIC_DISPATCH(ProductFloat)(begin, end, start, columns, values, x, y);
}

}  // namespace

template <class T>
BlockProduct<T>::BlockProduct(std::shared_ptr<const BlockPattern> pattern, int block_size)
    : pattern_(std::move(pattern)), block_size_(block_size) {
  const BlockPattern& p = *pattern_;
  start_.reserve(at(p.rows()) + 1);
  start_.push_back(0);
  columns_.reserve(at(2 * p.blocks() - p.rows()));
  for (Index i = 0; i < p.rows(); ++i) {
    for (const auto& lower : p.lower_row(i)) columns_.push_back(lower.column);
    for (std::int64_t k = p.row_start()[at(i)]; k < p.row_start()[at(i) + 1]; ++k)
      columns_.push_back(p.columns()[at(k)]);
    start_.push_back(static_cast<std::int64_t>(columns_.size()));
  }
  values_.assign(columns_.size() * at(block_size * block_size) + 4, T(0));
  partial_.resize(at((p.rows() + row_grain - 1) / row_grain));
}

template <class T>
void BlockProduct<T>::set(const BlockMatrix& A) {
  assert(A.block_size() == block_size_ && A.pattern().blocks() == pattern_->blocks());
  const BlockPattern& p = *pattern_;
  const int b = block_size_;
  for_chunks(p.rows(), row_grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      T* to = values_.data() + start_[at(i)] * b * b;
      for (const auto& lower : p.lower_row(i)) {
        const double* from = A.block(lower.k);
        for (int c = 0; c < b; ++c) {
          for (int r = 0; r < b; ++r) *to++ = static_cast<T>(from[c + r * b]);
        }
      }
      for (std::int64_t k = p.row_start()[at(i)]; k < p.row_start()[at(i) + 1]; ++k) {
        const double* from = A.block(k);
        for (int e = 0; e < b * b; ++e) *to++ = static_cast<T>(from[e]);
      }
    }
  });
}

template <class T>
double BlockProduct<T>::multiply(const VectorOf<T>& x, VectorOf<T>& y) const {
  assert(x.size() == Eigen::Index(block_size_) * rows() && &x != &y);
  y.resize(x.size());
  for_chunks(rows(), row_grain, [&](Index begin, Index end) {
    double& dot = partial_[at(begin / row_grain)];
    if (block_size_ == 3) {
      dot = product(begin, end, start_.data(), columns_.data(), values_.data(), x.data(), y.data());
      return;
    }
    dot = 0;
    for (Index i = begin; i < end; ++i) {
      T sum = 0;
      for (std::int64_t k = start_[at(i)]; k < start_[at(i) + 1]; ++k) sum += values_[at(k)] * x[columns_[at(k)]];
      y[i] = sum;
      dot += static_cast<double>(sum) * static_cast<double>(x[i]);
    }
  });
  double dot = 0;
  for (double p : partial_) dot += p;
  return dot;
}

template class BlockProduct<double>;
template class BlockProduct<float>;

}  // namespace pliant
#endif
