#pragma once

#include <memory>

#include "pliant/contact/broad_phase.hpp"
#include "pliant/energies/contact_pair.hpp"

namespace pliant {

/// Moves positions towards where a solver wants them, as far as no two surfaces meet: for methods that know no common
/// direction along which everything goes at once, so that one line search with collision detection would stop bodies in
/// the air where others touch.
///
/// Positions are sorted into blocks, and each block makes a share of its way, from 0 to 1, that is its own: first all
/// positions are one block, then every body is one, in the end every vertex. Within a block everything keeps step, so
/// that collision detection in time tells how far two of its primitives may go. Between blocks there is no common time.
/// There a plane that separates the two primitives decides: both sides may come near it and no further. This is safe
/// whatever shares the corners make in the end, and it leaves all motion along the plane free. Bounds on the length of
/// each vertex' motion instead, as in offset geometric contact (Chen et al. 2025), would let a body slide by no more
/// than its gap from one search to the next.
///
/// Obstacles are one block throughout: they have one progress.
class SafeMove {
 public:
  explicit SafeMove(std::shared_ptr<const ContactModel> model);

  /// Obstacles are elsewhere: the region searched is forgotten.
  void begin_step() { low_.resize(0); }
  /// Moves x, at which nothing intersects while obstacles are `here`, towards `target` and the obstacles towards
  /// `there`. Returns the share of their way that the obstacles may make together with this; 1 where they rest.
  /// x and target are over all positions of the model: a rigid body is one block throughout, with the nodes that carry
  /// it.
  double move(VecX& x, const VecX& target, const ObstacleState& here, const ObstacleState& there);

 private:
  enum class Blocks { all, bodies, vertices };
  struct Candidate {
    PairKind kind;
    std::array<Index, 4> corners;
  };

  void search(const VecX& x, const VecX& target);
  /// One round; whether some block that has not arrived came a good part of its way.
  bool advance(Blocks blocks);
  Index block_of(Blocks blocks, Index position) const;
  /// Number k of the candidates.
  Candidate candidate(Index k) const;
  bool may_come_near(const Candidate& pair, double distance) const;
  void limit_pair(Blocks blocks, const Candidate& pair);
  void limit_by_plane(PairKind kind, const std::array<Index, 4>& block, const Corners& from, const Corners& way);
  void limit_at_planes(Blocks blocks);
  void lower(Index block, double share);
  /// Of a distance d, m.
  double gap_to_keep(double d) const;

  std::shared_ptr<const ContactModel> model_;
  BroadPhase broad_;
  Candidates candidates_;
  VecX base_;                     ///< all positions at the search
  std::vector<double> distance_;  ///< of each candidate there, m
  std::vector<double> reach_;     ///< of each position: how far from there it is or will be, m
  VecX low_, high_;               ///< the region of the nodes that the candidates are good for; empty: none
  VecX from_, way_, end_;         ///< of all positions: where they are, what is left of their way, where it leads
  std::vector<PlaneShape> planes_, planes_end_;
  double keep_ = 0;            ///< the share of each gap that a round leaves
  std::vector<double> share_;  ///< of each block in a round
  std::vector<std::uint8_t> is_surface_;
  std::vector<Index> vertex_block_;  ///< of each position of the model
};

}  // namespace pliant
