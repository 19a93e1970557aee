#pragma once

#include "pliant/linalg/multigrid/aggregation.hpp"
#include "pliant/linalg/multigrid/kernels.hpp"
#include "pliant/linalg/multigrid/rigid_modes.hpp"

namespace pliant::multigrid {

/// One level of the hierarchy: its matrix, a polynomial smoother, and the way to the next level. What depends on the
/// pattern alone is made by follow_pattern(); set() and make_coarse() only compute numbers, and allocate nothing the
/// second time.
class Level {
 public:
  int b = 3;  ///< unknowns of a node
  SparseRows rows;
  std::vector<Real> values;
  RigidModes modes;
  Aggregates groups;  ///< none on the coarsest level

  std::vector<Real> f, x;  ///< right-hand side and solution

  bool is_coarsest() const { return groups.count == 0; }
  void group(double threshold);
  /// After `rows` and `groups` have changed: the patterns of the products, and that of the next level's matrix.
  void follow_pattern(SparseRows& coarse_rows);
  /// After `values` and `modes` have changed.
  void set();
  void make_coarse(Level& coarse);

  /// x from f, from zero.
  void smooth_from_zero();
  void smooth_on();
  /// coarse.f = P^T (f - A x)
  void restrict_residual(Level& coarse);
  void add_correction(const Level& coarse);

  double largest_eigenvalue() const { return largest_; }
  std::int64_t bytes() const;
  /// Of two numbers, in make_coarse().
  double products() const { return products_; }

 private:
  MatrixView view() const { return {b, rows.start.data(), rows.columns.data(), values.data(), inverse_.data()}; }
  RectangularView prolongation() const { return {b, P_.start.data(), P_.columns.data(), P_values_.data()}; }
  void invert_diagonal();
  void estimate_largest_eigenvalue();

  std::vector<Real> inverse_;  ///< of diagonal blocks
  double largest_ = 1;         ///< eigenvalue of D^{-1} A
  SparseColumns members_;      ///< nodes of every group
  SparseRows P_, AP_;
  SparseColumns P_columns_;
  std::vector<Real> Q_, P_values_, AP_values_;
  std::vector<std::uint16_t> place_;  ///< of every block of A, see smooth_prolongation
  std::vector<std::int32_t> own_;
  std::vector<std::int64_t> mirror_;  ///< of the coarse matrix
  std::int64_t longest_row_ = 0;      ///< of P, AP and the coarse matrix
  double products_ = 0;
  std::vector<Real> y_, d_, r_;
};

}  // namespace pliant::multigrid
