#include "pliant/linalg/block_product.hpp"

#include "pliant/math/parallel.hpp"
#define PLIANT_WAITS_FOR_MEMORY
#include "pliant/math/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pliant/linalg/block_product.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include "pliant/math/block9-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pliant {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Rows [begin, end) of y = A x in 3x3 blocks; returns their part of x^T y. A column of a block is the first three of
/// four lanes; the fourth runs along with the neighbour's numbers and is dropped. A sum for each
/// column of blocks with even and odd places hides the latency of additions.
template <class T>
double product3(Index begin, Index end, const std::int64_t* start, const Index* columns, const T* values, const T* x,
                T* y) {
  const hn::CappedTag<T, 4> d;
  constexpr int lanes = static_cast<int>(hn::MaxLanes(hn::CappedTag<T, 4>()));
  double dot = 0;
  if constexpr (lanes == 4) {
    for (Index i = begin; i < end; ++i) {
      auto even0 = hn::Zero(d), even1 = even0, even2 = even0, odd0 = even0, odd1 = even0, odd2 = even0;
      const T* block = values + 9 * start[i];
      std::int64_t k = start[i];
      const auto add = [&](auto& sum0, auto& sum1, auto& sum2) HWY_ATTR {
        const T* v = x + 3 * static_cast<std::int64_t>(columns[k]);
        sum0 = hn::MulAdd(hn::LoadU(d, block), hn::Set(d, v[0]), sum0);
        sum1 = hn::MulAdd(hn::LoadU(d, block + 3), hn::Set(d, v[1]), sum1);
        sum2 = hn::MulAdd(hn::LoadU(d, block + 6), hn::Set(d, v[2]), sum2);
        block += 9;
        ++k;
      };
      while (k + 1 < start[i + 1]) {
        add(even0, even1, even2);
        add(odd0, odd1, odd2);
      }
      if (k < start[i + 1]) add(even0, even1, even2);
      const auto sum = hn::Add(hn::Add(hn::Add(even0, odd0), hn::Add(even1, odd1)), hn::Add(even2, odd2));
      HWY_ALIGN T row[4];
      hn::Store(sum, d, row);
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

HWY_INLINE void store_block(const Block9& block, double* to) {
  hn::StoreU(block.first, BlockTag(), to);
  hn::StoreU(block.second, BlockTag(), to + 4);
  to[8] = block.last;
}
HWY_INLINE void store_block(const Block9& block, float* to) {
  const hn::Rebind<float, BlockTag> d;
  hn::StoreU(hn::DemoteTo(d, block.first), d, to);
  hn::StoreU(hn::DemoteTo(d, block.second), d, to + 4);
  to[8] = static_cast<float>(block.last);
}

/// A row of both triangles from the blocks of the upper one: those of `lower` transposed, then [begin, end).
template <class T>
void row3(std::span<const BlockPattern::Transposed> lower, std::int64_t begin, std::int64_t end, const double* blocks,
          T* to) {
  for (const auto& transposed : lower) {
    const double* from = blocks + 9 * transposed.k;
    if constexpr (kHasBlocks) {
      store_block(load_transposed_block(from), to);
    } else {
      for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r) to[3 * c + r] = static_cast<T>(from[3 * r + c]);
    }
    to += 9;
  }
  for (std::int64_t k = begin; k < end; ++k, to += 9) {
    const double* from = blocks + 9 * k;
    if constexpr (kHasBlocks) {
      store_block(load_block(from), to);
    } else {
      for (int e = 0; e < 9; ++e) to[e] = static_cast<T>(from[e]);
    }
  }
}

void RowDouble(std::span<const BlockPattern::Transposed> lower, std::int64_t begin, std::int64_t end,
               const double* blocks, double* to) {
  row3(lower, begin, end, blocks, to);
}
void RowFloat(std::span<const BlockPattern::Transposed> lower, std::int64_t begin, std::int64_t end,
              const double* blocks, float* to) {
  row3(lower, begin, end, blocks, to);
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
HWY_EXPORT(RowDouble);
HWY_EXPORT(RowFloat);

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

using Lower = std::span<const BlockPattern::Transposed>;
void copy_row(Lower lower, std::int64_t begin, std::int64_t end, const double* blocks, double* to) {
  HWY_DYNAMIC_DISPATCH(RowDouble)(lower, begin, end, blocks, to);
}
void copy_row(Lower lower, std::int64_t begin, std::int64_t end, const double* blocks, float* to) {
  HWY_DYNAMIC_DISPATCH(RowFloat)(lower, begin, end, blocks, to);
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
  for_chunks(p.rows(), row_grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const std::int64_t first = p.row_start()[at(i)], last = p.row_start()[at(i) + 1];
      if (block_size_ == 3) {
        copy_row(p.lower_row(i), first, last, A.values().data(), values_.data() + 9 * start_[at(i)]);
        continue;
      }
      T* to = values_.data() + start_[at(i)];
      for (const auto& lower : p.lower_row(i)) *to++ = static_cast<T>(*A.block(lower.k));
      for (std::int64_t k = first; k < last; ++k) *to++ = static_cast<T>(*A.block(k));
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
