#pragma once

#include <memory>
#include <string_view>

#include "pliant/linalg/block_matrix.hpp"
#include "pliant/linalg/ordering.hpp"

namespace pliant {

/// LL^T for positive definite matrices, LDL^T with pivoting for indefinite ones.
enum class Factorisation { llt, ldlt };

enum class FactorStatus { ok, not_positive_definite, singular, not_finite, out_of_memory };
std::string_view to_string(FactorStatus status);

/// Direct solution of A x = b for symmetric matrices in blocks of 1 or 3: nested dissection, multifrontal factorisation
/// (docs/direct-solver.md). Same bits for any number of threads. One object is used by one thread at a time; it
/// parallelises inside.
class SparseCholesky {
 public:
  struct Statistics {
    std::int64_t factor_entries = 0;  ///< numbers in the lower triangle of the factor, zeros of amalgamation included
    double flops = 0;                 ///< of one whole LL^T, additions and multiplications
    double last_flops = 0;            ///< of what the last factor or refactor computed
    std::int64_t factor_bytes = 0;    ///< storage of the factor
    std::int64_t update_bytes = 0;    ///< storage refactor needs beside it
    Index supernodes = 0;
    std::int64_t needed_bytes = 0;  ///< beside what it has, of a factorisation with kept updates if they are
  };
  struct Inertia {
    Index negative = 0;
    Index zero = 0;
  };
  /// What one supernode costs, for those who decide what to refactor.
  struct SupernodeCost {
    Index first = 0;  ///< its nodes are order()[first], ..., order()[first + nodes - 1]
    Index nodes = 0;
    Index parent = -1;  ///< refactored whenever this one is
    double flops = 0;
    double seconds = 0;  ///< measured when it was last computed; complete where updates are kept
  };

  SparseCholesky();
  ~SparseCholesky();
  SparseCholesky(SparseCholesky&&) noexcept;
  SparseCholesky& operator=(SparseCholesky&&) noexcept;

  /// Ordering and symbolic factorisation; needed once per pattern. Throws std::bad_alloc.
  void analyze(std::shared_ptr<const BlockPattern> pattern, int block_size, const AnalysisOptions& options = {});
  /// With an order of elimination that is known, such as order() of a similar pattern.
  void analyze_in_order(std::shared_ptr<const BlockPattern> pattern, int block_size, std::vector<Index> order);
  /// A pattern over the same nodes that differs in a few edges: keeps the order of elimination, which is most of an
  /// analysis, and redoes the rest.
  void change_pattern(std::shared_ptr<const BlockPattern> pattern);

  /// Whether factorisations keep the updates of all fronts, the memory refactor needs (Statistics::update_bytes).
  void keep_updates(bool keep);
  /// A must have the analysed pattern. After anything but `ok` there is no factor to solve with. LL^T stops at the
  /// first pivot that is not positive.
  FactorStatus factor(const BlockMatrix& A, Factorisation kind = Factorisation::llt);
  /// The factorisation of A, of the same kind as the last, when A differs from the matrix factored last only in blocks
  /// (i, j) of which both nodes are dirty: recomputes the supernodes of these nodes and all above them. The result of
  /// an LL^T is that of factor(), bit for bit; an LDL^T keeps the scaling of the last factor(). Without kept updates,
  /// or after a failure, everything is computed.
  FactorStatus refactor(const BlockMatrix& A, std::span<const Index> dirty_nodes);

  /// In place: b becomes A^{-1} b, for any number of columns. With an LDL^T, solutions are refined by residuals.
  void solve(Eigen::Ref<Eigen::MatrixXd> b);
  /// x = A^{-1} b for blocks of 1 and the three coordinates of every node: b[3 i + c]. x must not be b.
  void solve_coordinates(const VecX& b, VecX& x);
  /// Keeps the LL^T from here to the next factorisation in float and in the form that is quickest to solve with, which
  /// takes about as long to make as the factorisation (ExplicitFactor). For preconditioners that are applied hundreds
  /// of times; some six digits.
  void make_explicit();
  /// Keeps the LL^T in float from here to the next factorisation: half the bytes that bound a solution, seven digits.
  /// For matrices that are only preconditioners.
  void store_in_float();

  /// With AnalysisOptions::schur, d the last nodes and q all others: A_dd - A_dq A_qq^{-1} A_qd, dense, over the
  /// scalars of the last nodes in their order. Also there when factor() failed in this last block alone.
  bool has_schur_complement() const;
  Eigen::MatrixXd schur_complement() const;
  /// The columns of X hold values of the last nodes; their rows of all other nodes become -A_qq^{-1} A_qd times these.
  /// A blocked solve with many columns at once, at half the price of one with A.
  void condense(Eigen::Ref<Eigen::MatrixXd> X);

  /// From the last LDL^T: exact for the matrix that was factored, which differs from A where pivots were perturbed.
  Inertia inertia() const;
  /// Pivots of the last LDL^T that were enlarged; solutions are refined to make up for it.
  Index perturbed_pivots() const;
  Statistics statistics() const;
  std::vector<SupernodeCost> supernode_costs() const;
  /// The order of elimination: order()[k] is the k-th node.
  std::span<const Index> order() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace pliant
