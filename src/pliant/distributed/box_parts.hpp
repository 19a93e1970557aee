#pragma once

#include "pliant/distributed/model_part.hpp"
#include "pliant/distributed/team.hpp"

namespace pliant {

/// Whether each process can make its part of the scene's model from the scene alone: all bodies are generated boxes of
/// order 1, of one material each, with nothing but pins, scripts, gravity and colliders, and have so many elements.
bool is_made_of_boxes(const Scene& scene, double least_elements);

/// A box of cells within a box: [begin, end) along each axis.
struct CellRange {
  std::array<Index, 3> begin, end;
  std::array<Index, 3> size() const { return {end[0] - begin[0], end[1] - begin[1], end[2] - begin[2]}; }
};
/// Divides cells among processes, by halving along the longest side again and again. Throws InputError where a process
/// would get none.
std::vector<CellRange> divide_cells(const std::array<Index, 3>& cells, int parts);

/// The part of this process, without anybody having the whole. All call it together, as selections that are empty here
/// need not be so elsewhere. Throws InputError, everywhere, for those that are empty everywhere.
ModelPart box_part(const Scene& scene, Team& team);

}  // namespace pliant
