#pragma once

#include <span>
#include <vector>

#include "pliant/math/types.hpp"

namespace pliant {

// Elements of one colour share no node, so that they can be updated at the same time, in any order, with the same
// result.

/// The colour of each element, greedily: the smallest that none of its nodes has met (pxpbd, section 4, fig. 5). The
/// nodes of element e are nodes[start[e]] to nodes[start[e + 1] - 1], of `node_count` in all; duplicates are allowed.
/// `colours` holds a guess, or -1, for each element and is overwritten: an element keeps the guess where it can, which
/// makes recolouring after a small change nearly free of changes (fig. 6). Returns the number of colours.
Index colour_elements(Index node_count, std::span<const Index> start, std::span<const Index> nodes,
                      std::vector<Index>& colours);

/// Elements sorted by colour; those of one colour in ascending order, which keeps neighbours in memory together.
struct ColourOrder {
  std::vector<Index> elements;
  std::vector<Index> start;  ///< first of each colour, and the end

  Index colours() const { return static_cast<Index>(start.size()) - 1; }
  Range range(Index colour) const {
    return {start[static_cast<std::size_t>(colour)], start[static_cast<std::size_t>(colour) + 1]};
  }
};
ColourOrder order_by_colour(std::span<const Index> colours);

}  // namespace pliant
