#pragma once

#include <memory>
#include <vector>

#include "pliant/distributed/process_sharing.hpp"
#include "pliant/linalg/sparse_cholesky.hpp"

namespace pliant {

/// A small matrix that every process has whole, and factorises for itself by the solver of one machine: one message for
/// a matrix and one for a solution, where a factorisation among processes takes some hundred, and the same bits for
/// all. Shares are added in the order of ranks.
class WholeFactor {
 public:
  explicit WholeFactor(ProcessSharing& sharing) : sharing_(sharing) {}

  /// For shares on this pattern. All processes call everything together.
  void follow_pattern(const BlockPattern& pattern);
  FactorStatus factor(const BlockMatrix& share, Factorisation kind);
  /// dx = -A^{-1} g
  void solve(const VecX& g, VecX& dx);

 private:
  ProcessSharing& sharing_;
  SparseCholesky cholesky_;
  std::shared_ptr<const BlockPattern> pattern_;
  BlockMatrix A_;
  /// Blocks of all processes' shares, one after the other: how many each has, and where these are added; negative and
  /// less one: transposed.
  std::vector<int> counts_, begins_, own_counts_, own_begins_;
  std::vector<std::int64_t> places_;
  std::vector<double> blocks_, right_;
};

}  // namespace pliant
