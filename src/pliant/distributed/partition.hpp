#pragma once

#include <vector>

#include "pliant/sim/model.hpp"

namespace pliant {

/// How a model is divided among processes: every element belongs to one of them, and so does every node, though all
/// that have an element at a node have a copy of it.
///
/// The potential of a step is then a sum over processes, E(x) = sum_r E_r(R_r x) with R_r x the nodes that r has: each
/// evaluates its share with the energies and assemblers of one machine, unchanged, and masses, gradients and matrices
/// are sums of shares in the same way. The alternative, every process with all elements that touch its nodes, needs no
/// sums at shared nodes, but evaluates the elements between two processes twice and has to tell which of the values
/// count.
struct Partition {
  int parts = 1;
  std::vector<std::vector<int>> of_element;  ///< by body and element
  std::vector<int> owner;                    ///< by node: one of those that have an element there
  /// The processes that have a copy of node i, ascending: [start[i], start[i + 1]) of `copies`.
  std::vector<std::int64_t> start;
  std::vector<int> copies;
};

/// By METIS, k-way over the graph of the nodes, the same for the same model. An element goes where most of its nodes
/// are. Throws InputError where a process would be left without elements.
Partition partition(const Model& model, int parts);

}  // namespace pliant
