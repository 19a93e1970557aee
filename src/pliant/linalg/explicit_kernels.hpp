#pragma once

#include <algorithm>
#include <cstdint>

#include "pliant/math/types.hpp"

/// Products with the panels of an ExplicitFactor, in float. A panel W has `rows` rows and `pivots` columns, of which
/// the first `pivots` rows are lower triangular. It is cut into tiles of eight rows, each stored column by column and
/// only as far as its last column that is not zero (to the next multiple of 16; columns are padded to a multiple of
/// four, rows to one of eight, both by zeros): both directions read it in the order it lies in memory.
///
/// Values come with Q = 1 or 3 numbers a row, `row_width<Q>` floats apart.
namespace pliant::dense {

constexpr Index explicit_tile = 8;

template <int Q>
constexpr Index row_width = Q == 1 ? 1 : 4;

/// The tiles of a panel.
struct ExplicitTiles {
  Index pivots, padded_pivots, tiles;

  ExplicitTiles(Index rows, Index panel_pivots)
      : pivots(panel_pivots),
        padded_pivots((panel_pivots + 3) / 4 * 4),
        tiles((rows + explicit_tile - 1) / explicit_tile) {}

  /// Columns of tile t.
  Index width(Index t) const { return std::min(padded_pivots, 16 * (t / 2 + 1)); }
  /// Where tile t begins.
  std::int64_t start(Index t) const {
    const std::int64_t pair = t / 2, full = padded_pivots / 16, growing = std::min(pair, full);
    return 128 * growing * (growing + 1) + (pair - growing) * 16 * padded_pivots + (t % 2) * 8 * width(t);
  }
  std::int64_t numbers() const { return start(tiles); }
};

/// out = W x: x has `pivots` rows, out room for whole tiles of rows. They must not overlap.
template <int Q>
void explicit_forward(Index rows, Index pivots, const float* w, const float* x, float* out);
/// out = W^T v: v has `rows` rows and zeros up to whole tiles, out room for `pivots` rows, padded to four. `scratch`:
/// as much as v.
template <int Q>
void explicit_backward(Index rows, Index pivots, const float* w, const float* v, float* scratch, float* out);

}  // namespace pliant::dense
