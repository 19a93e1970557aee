// Dense partial factorisation of a front with k pivots and r rows below.
//
// L L^T goes right-looking over blocks of columns of the panel: a block is factored, the rows below it are solved and
// packed once, and the packing serves the rest of the panel at once and the update at the end. The update is touched
// once per `depth` pivots, tile by tile of its lower triangle. Tiles have fixed sizes and one thread each: same bits
// for any number of threads.
#include "pliant/linalg/front.hpp"

#include <oneapi/tbb/task_arena.h>

#include <cmath>

#include "pliant/linalg/blas.hpp"
#include "pliant/linalg/front_kernels.hpp"
#include "pliant/linalg/tiles.hpp"
#include "pliant/linalg/update_block.hpp"
#include "pliant/math/parallel.hpp"

namespace pliant {
namespace {

/// Columns of a panel eliminated at a time.
constexpr Index panel_columns = dense::cholesky_size;
/// Pivots subtracted from the update at a time: two packed panels of so many columns fit the first-level cache.
constexpr Index depth = 192;
/// Rows and columns of a tile: whole nodes, whole packed panels, whole strips; its packing fits the second-level cache.
constexpr Index tile = 240;
static_assert(tile % dense::panel_rows == 0 && tile % update_block::strip == 0);

std::size_t packed_size(Index rows, Index columns) {
  return static_cast<std::size_t>(dense::panels(rows) * dense::panel_distance(columns));
}

/// update -= A B^T with packed rows below the pivots.
void subtract_from_update(const Front& f, const double* a, const double* b, TilePreparation* preparation) {
  const std::int64_t distance = dense::panel_distance(f.pivots);
  const Index tiles = (f.rows + tile - 1) / tile;
  for_tiles(f.parallel, tiles * (tiles + 1) / 2, 1, [&](Index t, Index) {
    Index column = 0, left = t;
    while (left >= tiles - column) left -= tiles - column++;
    const Range rows{(column + left) * tile, std::min(f.rows, (column + left + 1) * tile)};
    const Range columns{column * tile, std::min(f.rows, (column + 1) * tile)};
    if (preparation) preparation->prepare(rows, columns);
    for (Index p = 0; p < f.pivots; p += depth) {
      const Index width = std::min(depth, f.pivots - p);
      for (Index j = columns.begin; j < columns.end; j += update_block::strip) {
        const Index i = std::max(rows.begin, j);
        dense::subtract_product(rows.end - i, std::min(update_block::strip, columns.end - j), width,
                                a + i / dense::panel_rows * distance + std::int64_t(dense::panel_rows) * p, distance,
                                b + j / dense::panel_rows * distance + std::int64_t(dense::panel_rows) * p, distance,
                                update_block::column(f.update, f.rows, j) + i, update_block::stride(f.rows, j),
                                i == j ? dense::Part::lower : dense::Part::all);
      }
    }
  });
}

}  // namespace

std::size_t llt_workspace(Index pivots, Index rows) {
  return packed_size(rows, pivots) + packed_size(pivots, panel_columns) +
         static_cast<std::size_t>(dense::triangle_size(panel_columns));
}

bool eliminate_llt(const Front& f, double* workspace, TilePreparation* preparation) {
  const std::int64_t distance = dense::panel_distance(f.pivots), pivot_distance = dense::panel_distance(panel_columns);
  double* below = workspace;  // rows below the pivots
  double* ahead = below + packed_size(f.rows, f.pivots);
  double* triangle = ahead + packed_size(f.pivots, panel_columns);
  for (Index j = 0; j < f.pivots; j += panel_columns) {
    const Index width = std::min(panel_columns, f.pivots - j), next = j + width, rest = f.pivots - next;
    double* columns = f.panel + j * f.stride;
    if (!dense::cholesky(width, columns + j, f.stride)) return false;
    dense::pack_triangle(width, columns + j, f.stride, dense::Diagonal::stored, triangle);
    const Index rest_tiles = (rest + tile - 1) / tile, tiles = rest_tiles + (f.rows + tile - 1) / tile;
    for_tiles(f.parallel, tiles, 1, [&](Index t, Index) {
      const bool in_pivots = t < rest_tiles;
      const Index begin = (in_pivots ? t : t - rest_tiles) * tile;
      const Index count = std::min(tile, (in_pivots ? rest : f.rows) - begin);
      double* packed = in_pivots ? ahead + begin / dense::panel_rows * pivot_distance
                                 : below + begin / dense::panel_rows * distance + std::int64_t(dense::panel_rows) * j;
      dense::solve_rows(count, width, triangle, columns + (in_pivots ? next : f.pivots) + begin, f.stride, packed,
                        in_pivots ? pivot_distance : distance);
    });
    // The rest of the panel: first the pivots' own triangle, then the rows below, by tiles.
    for_tiles(f.parallel, rest_tiles * tiles, 1, [&](Index t, Index) {
      const Index column = t / tiles * tile, row_tile = t % tiles;
      const Index width_here = std::min(tile, rest - column);
      const double* b = ahead + column / dense::panel_rows * pivot_distance;
      double* c = f.panel + (next + column) * f.stride;
      if (row_tile < rest_tiles) {
        const Index row = row_tile * tile;
        if (row < column) return;
        dense::subtract_product(std::min(tile, rest - row), width_here, width,
                                ahead + row / dense::panel_rows * pivot_distance, pivot_distance, b, pivot_distance,
                                c + next + row, f.stride, row == column ? dense::Part::lower : dense::Part::all);
      } else {
        const Index row = (row_tile - rest_tiles) * tile;
        dense::subtract_product(std::min(tile, f.rows - row), width_here, width,
                                below + row / dense::panel_rows * distance + std::int64_t(dense::panel_rows) * j,
                                distance, b, pivot_distance, c + f.pivots + row, f.stride, dense::Part::all);
      }
    });
  }
  subtract_from_update(f, below, below, preparation);
  return true;
}

// L D L^T. The pivot block P A11 P^T = L11 D L11^T comes from LAPACK; then Y = A21 P^T L11^{-T} = L21 D, and the update
// loses L21 Y^T.

namespace {

constexpr Index lapack_block = 64;
/// Multipliers below the pivot block stay below the reciprocal of this; refinement wins the lost digits back.
constexpr double least_pivot = 1e-8;
/// What is left of a column below this share of the matrix' scale is rounding.
constexpr double negligible = 1e-13;

std::size_t ints_as_doubles(Index n) { return static_cast<std::size_t>((n + 1) / 2); }

/// D^{-1} of the pivot that begins at k, which has `size` columns.
struct PivotInverse {
  double a, b, c;  ///< [a b; b c], or [a]
  int size;
};

PivotInverse invert_pivot(const double* diagonal, std::int64_t step, double off_diagonal) {
  const double a = diagonal[0];
  if (off_diagonal == 0) return {1 / a, 0, 0, 1};
  // Divided by the off-diagonal entry first, which a 2x2 pivot makes the largest: nothing overflows.
  const double c = diagonal[step], p = a / off_diagonal, q = c / off_diagonal, det = (p * q - 1) * off_diagonal;
  return {q / det, -1 / det, p / det, 2};
}

/// Keeps the eigenvalues of one pivot away from zero, counts them.
void settle_pivot(double* diagonal, std::int64_t step, double* off_diagonal, double column, double scale,
                  LdltCount& count) {
  const double least = least_pivot * column;
  const auto settle = [&](double value) {
    if (!(std::abs(value) > negligible * scale) && !(column > negligible * scale)) {
      ++count.zero;
      return scale > 0 ? scale : 1.0;
    }
    if (std::abs(value) < least) {
      ++count.perturbed;
      value = std::copysign(least, value);
    }
    if (value < 0) ++count.negative;
    return value;
  };
  if (*off_diagonal == 0) {
    *diagonal = settle(*diagonal);
    return;
  }
  double &a = diagonal[0], &c = diagonal[step], &b = *off_diagonal;
  const double mean = (a + c) / 2, half = (a - c) / 2, radius = std::hypot(half, b);
  const double high = mean + radius, low = mean - radius;
  const double new_high = settle(high), new_low = settle(low);
  if (new_high == high && new_low == low) return;
  // The same eigenvectors: the traceless part keeps its direction.
  const double stretch = (new_high - new_low) / (2 * radius), new_mean = (new_high + new_low) / 2;
  a = new_mean + half * stretch;
  c = new_mean - half * stretch;
  b *= stretch;
}

}  // namespace

std::size_t ldlt_workspace(Index pivots, Index rows) {
  const auto k = static_cast<std::size_t>(pivots);
  const auto tiles = static_cast<std::size_t>((rows + tile - 1) / tile);
  return 2 * packed_size(rows, pivots) + static_cast<std::size_t>(dense::triangle_size(pivots)) + k * tiles +
         ints_as_doubles(pivots) + static_cast<std::size_t>(lapack_block) * k;
}

LdltCount eliminate_ldlt(const Front& f, const LdltPivots& pivots, double scale, double* workspace,
                         TilePreparation* preparation) {
  const Index k = f.pivots, tiles = (f.rows + tile - 1) / tile;
  const std::int64_t distance = dense::panel_distance(k), diagonal_step = f.stride + 1;
  double* Y = workspace;
  double* L = Y + packed_size(f.rows, k);
  double* triangle = L + packed_size(f.rows, k);
  double* largest = triangle + dense::triangle_size(k);
  int* swaps = reinterpret_cast<int*>(largest + std::size_t(k) * static_cast<std::size_t>(tiles));
  double* lapack = largest + std::size_t(k) * static_cast<std::size_t>(tiles) + ints_as_doubles(k);

  // A zero pivot is no error here: settle_pivot sees it.
  dense::Blas::factor_symmetric(k, f.panel, static_cast<int>(f.stride), pivots.off_diagonal, swaps, lapack,
                                lapack_block * k);
  for (Index i = 0; i < k; ++i) pivots.order[i] = i;
  for (Index i = 0; i < k; ++i) std::swap(pivots.order[i], pivots.order[std::abs(swaps[i]) - 1]);

  dense::pack_triangle(k, f.panel, f.stride, dense::Diagonal::unit, triangle);
  for_tiles(f.parallel, tiles, 1, [&](Index t, Index) {
    const Index begin = t * tile, count = std::min(tile, f.rows - begin);
    double* rows = f.panel + k + begin;
    dense::solve_rows(count, k, triangle, rows, f.stride, Y + begin / dense::panel_rows * distance, distance,
                      pivots.order);
    for (Index p = 0; p < k; ++p) {
      double most = 0;
      for (Index i = 0; i < count; ++i) most = std::max(most, std::abs(rows[i + p * f.stride]));
      largest[std::size_t(t) * static_cast<std::size_t>(k) + static_cast<std::size_t>(p)] = most;
    }
  });

  LdltCount result;
  for (Index p = 0; p < k;) {
    const int size = pivots.off_diagonal[p] == 0 ? 1 : 2;
    double column = 0;
    for (Index t = 0; t < tiles; ++t) {
      for (Index q = p; q < p + size; ++q) column = std::max(column, largest[t * k + q]);
    }
    settle_pivot(f.panel + p * diagonal_step, diagonal_step, pivots.off_diagonal + p, column, scale, result);
    p += size;
  }

  for_tiles(f.parallel, tiles, 1, [&](Index t, Index) {
    const Index begin = t * tile, count = std::min(tile, f.rows - begin);
    double* rows = f.panel + k + begin;
    for (Index p = 0; p < k;) {
      const PivotInverse D = invert_pivot(f.panel + p * diagonal_step, diagonal_step, pivots.off_diagonal[p]);
      double* y = rows + p * f.stride;
      for (Index i = 0; i < count; ++i) {
        if (D.size == 1) {
          y[i] *= D.a;
        } else {
          const double y0 = y[i], y1 = y[i + f.stride];
          y[i] = D.a * y0 + D.b * y1;
          y[i + f.stride] = D.b * y0 + D.c * y1;
        }
      }
      p += D.size;
    }
    dense::pack_rows(count, k, rows, f.stride, L + begin / dense::panel_rows * distance, distance);
  });
  subtract_from_update(f, L, Y, preparation);
  return result;
}

}  // namespace pliant
