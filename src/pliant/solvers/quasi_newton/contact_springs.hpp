#pragma once

#include <array>
#include <vector>

#include "pliant/energies/contact_pair.hpp"

namespace pliant {

/// Contacts as a scalar matrix has them: sum over s of stiffness[s] w w^T, w the weights of up to eight nodes (-1:
/// none).
struct ContactSprings {
  std::vector<std::array<Index, kContactNodes>> nodes;
  std::vector<std::array<double, kContactNodes>> weight;
  std::vector<double> stiffness;  ///< N/m

  void clear() { nodes.clear(), weight.clear(), stiffness.clear(); }
  std::size_t size() const { return nodes.size(); }
  void add(const ContactSprings& other, std::size_t s) {
    nodes.push_back(other.nodes[s]);
    weight.push_back(other.weight[s]);
    stiffness.push_back(other.stiffness[s]);
  }
};

}  // namespace pliant
