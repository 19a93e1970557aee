#pragma once

#include "pliant/linalg/preconditioner.hpp"

namespace pliant {

/// Block IC(0): L has the lower triangle's pattern of A within ranges of nodes (Preconditioner says why ranges).
template <class T>
class IncompleteCholesky final : public Preconditioner<T> {
 public:
  void set(const BlockProduct<T>& A) override;
  void apply(const VectorOf<T>& r, VectorOf<T>& z) override;
  /// The largest share of its diagonal that had to be added to a range.
  double shift() const { return shift_; }

 private:
  Range range(Index k) const;
  void prepare(const BlockProduct<T>& A);

  const BlockPattern* pattern_ = nullptr;  ///< that `start_` and `columns_` were made for
  Index rows_ = 0, ranges_ = 0;
  int block_size_ = 3;
  std::vector<std::int64_t> start_;  ///< strictly lower blocks of each row
  std::vector<Index> columns_;
  std::vector<T> lower_;    ///< L_ij, column-major
  std::vector<T> inverse_;  ///< L_ii^{-1}
  std::vector<double> shifts_;
  double shift_ = 0;
};

}  // namespace pliant
