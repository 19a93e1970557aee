#pragma once

#include <cstdint>

#include "pliant/math/types.hpp"

/// The dense arithmetic of fronts, one thread each, register-tiled (Goto and van de Geijn, "Anatomy of high-performance
/// matrix multiplication", 2008) with run-time choice of the instruction set. Matrices are column-major: entry (i, j)
/// is at i + j * stride. Same bits for the same numbers, whatever the addresses.
///
/// Operands of products are *packed*: rows in panels of twelve, each panel column by column, rows past the end zero.
/// One packing serves as left and as right operand of A A^T. Panels are `distance` numbers apart.
namespace pliant::dense {

constexpr Index panel_rows = 12;
/// Numbers between packed panels of so many columns: solve_rows works on whole groups of four.
constexpr std::int64_t panel_distance(Index columns) { return std::int64_t(panel_rows) * ((columns + 3) / 4 * 4); }
constexpr Index panels(Index rows) { return (rows + panel_rows - 1) / panel_rows; }

/// Numbers a packed triangle takes.
constexpr std::int64_t triangle_size(Index n) {
  const std::int64_t groups = (n + 3) / 4;
  return 8 * groups * (groups + 1);
}
/// Diagonal of a triangular matrix: as stored, or ones whatever is stored.
enum class Diagonal { stored, unit };
/// Packs a lower triangular n x n matrix for solve_rows.
void pack_triangle(Index n, const double* l, std::int64_t stride, Diagonal diagonal, double* triangle);

/// X becomes X L^{-T} (X is rows x n), in place and packed as well. `order`, if not null, names
/// the column of X each column is read from.
void solve_rows(Index rows, Index n, const double* triangle, double* x, std::int64_t stride, double* packed,
                std::int64_t distance, const Index* order = nullptr);

void pack_rows(Index rows, Index columns, const double* a, std::int64_t stride, double* packed, std::int64_t distance);

/// Which part of C a product is subtracted from; `lower` starts on the diagonal of C, and may overwrite up to a panel
/// above it.
enum class Part { all, lower };
/// C -= A B^T with packed A (rows x depth) and B (columns x depth).
void subtract_product(Index rows, Index columns, Index depth, const double* a, std::int64_t a_distance, const double* b,
                      std::int64_t b_distance, double* c, std::int64_t stride, Part part);

/// Largest n of cholesky().
constexpr Index cholesky_size = 96;
/// The lower triangle of `a` becomes its Cholesky factor; entries above the diagonal are not read. False at the first
/// pivot that is not positive.
bool cholesky(Index n, double* a, std::int64_t stride);

}  // namespace pliant::dense
