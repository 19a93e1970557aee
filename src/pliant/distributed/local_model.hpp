#pragma once

#include "pliant/distributed/partition.hpp"

namespace pliant {

/// What one process has of a model: its elements with their nodes as a model of its own, numbered anew, and how that
/// fits into the whole.
///
/// Without gravity and loads: what does not depend on the positions comes from the first process step by step
/// (distributed_newton.hpp).
struct LocalModel {
  std::shared_ptr<const Model> model;
  std::vector<Index> nodes;         ///< the number of each local node in the whole model
  std::vector<std::uint8_t> owned;  ///< whether the node is this process's
  /// Where each local node stands in vectors and matrices over all processes: those of process 0 first.
  std::vector<Index> row;
  Index first_row = 0, owned_count = 0, all_nodes = 0;
  /// Local nodes that another process has as well, in the same order there.
  struct Neighbour {
    int rank = 0;
    std::vector<Index> nodes;
  };
  std::vector<Neighbour> neighbours;  ///< by ascending rank
};

/// Throws InputError, with a remedy, for what is not divided among processes (docs/scale.md).
void check_divisible(const Model& model);

LocalModel local_model(const Model& whole, const Partition& partition, int rank);

}  // namespace pliant
