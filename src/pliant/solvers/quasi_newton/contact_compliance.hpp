#pragma once

#include "pliant/linalg/aligned_array.hpp"
#include "pliant/linalg/sparse_cholesky.hpp"
#include "pliant/solvers/quasi_newton/contact_springs.hpp"

namespace pliant {

/// The inverse of A = A0 + K, K the sum of k w w^T over contacts that touch few nodes, from a factor of the constant A0
/// and a dense one over those nodes alone (Woodbury). With E the columns of the identity that belong to them and
/// S = E^T A0^{-1} E = U^T U their compliance,
///
///   A^{-1} = A0^{-1} - A0^{-1} E K U^T (1 + U K U^T)^{-1} U^{-T} E^T A0^{-1}.
///
/// Where contacts change in every step, that takes a fraction of the time of a factorisation of A: columns of A0^{-1}
/// are kept, and what is left for a new K is dense algebra of the size of the contact. In double: a stiff contact is
/// held by a difference of two solutions.
class ContactCompliance {
 public:
  /// `surface`: the nodes that contacts may touch, in an order in which neighbours mostly come one after the other.
  /// `flops`: of a factorisation of A0, eliminated in this order.
  void set_model(std::vector<Index> surface, std::vector<Index> order, double flops);
  /// Nodes that are held are none of K's. Another A0 costs a factorisation, and all columns of its inverse.
  FactorStatus set_constant(const BlockMatrix& A0, std::span<const std::uint8_t> held);
  bool has_constant() const { return has_constant_; }
  /// All columns there can be, so that none is missing when time is short. None where that takes too much of it.
  void prepare_columns();

  /// Whether this is the quicker way for these contacts. Depends on them and on the model alone. Those of before are
  /// forgotten: set_springs() has to follow before the next solve().
  bool serves(const ContactSprings& springs);
  /// False where rounding leaves no factor.
  bool set_springs(const ContactSprings& springs);
  /// r = A^{-1} q for x, y and z of every node. Not in place.
  void solve(const VecX& q, VecX& r);

 private:
  static constexpr Index kGroup = 24;  ///< columns solved for at a time

  bool find_nodes(const ContactSprings& springs);
  const double* column(Index node);
  void solve_group(Index group);
  void add_stiffness(const ContactSprings& springs);

  SparseCholesky factor_;
  double flops_ = 0;  ///< of a factorisation of A0
  std::vector<Index> order_;
  bool has_constant_ = false;
  std::vector<std::uint8_t> held_;
  std::vector<Index> surface_, place_;        ///< the second of each node in the first; -1: none
  std::vector<std::vector<double>> columns_;  ///< of A0^{-1}, by groups, at the nodes of the surface; empty: not yet
  std::vector<Index> nodes_, number_;  ///< that the contacts touch, ascending; the number of each node among them
  AlignedArray S_, Y_, M_, packed_, workspace_;  ///< U^T; U K; the factor of 1 + U K U^T; scratch
  std::size_t capacity_ = 0;                     ///< nodes that these have room for
  std::vector<std::array<Index, 2>> entries_;    ///< of K: numbers of nodes, and
  std::vector<double> values_;
  VecX force_;
  Eigen::MatrixXd moved_;
};

}  // namespace pliant
