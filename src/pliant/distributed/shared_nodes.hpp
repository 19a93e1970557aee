#pragma once

#include "pliant/distributed/model_part.hpp"
#include "pliant/distributed/team.hpp"

namespace pliant {

/// Vectors over the nodes of all processes, of which each has those of its elements: every copy of a node has the same
/// bits. Sums over copies take one round of messages between neighbours.
class SharedNodes {
 public:
  SharedNodes(Team& team, const ModelPart& part);

  /// From shares to sums: at nodes that several processes have, v becomes the sum of what each of them has, added in
  /// the order of their ranks, so that all copies have the same bits. v has 3 numbers a node, or one.
  void sum_copies(VecX& v);
  /// From owners to copies: what those who do not own a node have there is overwritten.
  void update_copies(VecX& v);
  /// Over the nodes of all processes; copies must agree.
  double dot(const VecX& a, const VecX& b);

  Team& team() { return team_; }

 private:
  void send(const VecX& v, Eigen::Index width);

  struct Exchange {
    int rank = 0;
    std::vector<Index> nodes;
    std::vector<double> out, in;
  };
  Team& team_;
  std::vector<Exchange> exchanges_;  ///< by ascending rank
  std::vector<Index> shared_;        ///< nodes that anybody else has
  std::vector<double> own_;          ///< scratch: this process's share of them
  std::vector<MPI_Request> requests_;
  VecX owned_;  ///< by unknown: 1 where the node is this process's, else 0
};

}  // namespace pliant
