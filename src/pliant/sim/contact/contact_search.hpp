#pragma once

#include <memory>

#include "pliant/contact/broad_phase.hpp"
#include "pliant/contact/ccd.hpp"
#include "pliant/contact/intersection.hpp"
#include "pliant/energies/contact_pair.hpp"

namespace pliant {

/// Which pairs are near where, and how far one can go: the geometry of contact in a step. Candidates from one search
/// serve all positions in the region that was searched; correct answers never depend on who searched before.
class ContactSearch {
 public:
  explicit ContactSearch(std::shared_ptr<const ContactModel> model);

  /// Obstacles are elsewhere: the region searched is forgotten.
  void set_obstacles(const ObstacleState& obstacles);

  /// The pairs nearer than dhat at x, in an order of their own, the parts of them that are nearest, each once, and
  /// their least distance.
  struct Near {
    std::vector<ContactPair> pairs, parts;
    double gap;  ///< m; infinity without pairs
  };
  void find_near(const VecX& x, Near& near);

  /// How far everything may move along dx (nodes) and towards `there` (obstacles; null: they rest), at most 1, without
  /// any two surfaces coming nearer than `gap` times their distance or dhat/2, whichever is less.
  double largest_step(const VecX& x, const VecX& dx, const ObstacleState* there, double gap);

  /// Pairs (edge, triangle) that intersect at x, exactly, and points behind planes as (point, -1 - plane).
  std::vector<CandidatePair> intersections(const VecX& x);
  /// Pairs of edges that cross at x, where some belong to no triangle.
  std::vector<CandidatePair> crossings(const VecX& x) { return find_crossings(broad_, all_positions(x)); }

 private:
  /// How far nodes are from where the candidates were measured, or will be; with the mean motion of their bodies, or
  /// without.
  struct Motion {
    std::vector<double> squared;  ///< by node, m^2
    double most = 0;              ///< m
  };

  const VecX& all_positions(const VecX& x);
  bool covers(const VecX& x) const;
  void cover(const VecX& from, const VecX& to, double margin);
  /// The corners of candidate number k, where candidates of points and triangles come first.
  std::array<Index, 4> corners(Index k) const;
  /// Two primitives of one body that lie near each other at rest repel each other only when they come nearer: below
  /// dhat or half of their distance at rest, whichever is less. So the shortest edge does not decide about dhat.
  double reach_of(PairKind kind, const std::array<Index, 4>& nodes) const;
  ContactPair point_triangle(const CandidatePair& candidate) const;
  ContactPair edge_edge(const CandidatePair& candidate) const;
  /// Takes x as the place from which candidates are known to stay apart while their corners move little.
  void measure_candidates(const VecX& x);
  /// Finds how far x is from there, or goes on from what was found for another place on the way.
  void measure_motion(const VecX& x);
  void forget_motion();
  /// Calls visit(candidate) for those that may come nearer than dhat while nodes move no further than that, or for all;
  /// in parallel, in no order.
  template <class Visit>
  void for_candidates(bool all, Visit&& visit);
  bool stays_apart(Index k, const Motion& motion, double distance) const;
  double plane_step(const VecX& x, const VecX& dx, const ObstacleState* there, double gap) const;

  std::shared_ptr<const ContactModel> model_;
  BroadPhase broad_;
  double margin_;  ///< of the region searched, so that small moves need no search of their own, m
  Candidates candidates_;
  ObstacleState obstacles_;
  VecX positions_, motion_;  ///< of nodes and obstacles
  VecX end_;                 ///< where a step would lead the nodes
  VecX measured_at_;         ///< nodes where `apart_` holds
  struct Apart {
    double distance;  ///< m
    Index candidate;
    auto operator<=>(const Apart&) const = default;
  };
  /// Candidates within a body and all others, the nearest first.
  std::vector<Apart> within_, between_;
  std::vector<double> distance_;  ///< of each candidate, m: scratch
  Motion moved_, moved_in_body_;
  std::vector<Vec3> mean_;      ///< motion of each group, m: scratch
  std::vector<double> counts_;  ///< points of each group
  VecX low_, high_;             ///< the region of the nodes that the candidates are good for; empty: none
  struct Found {
    Index candidate;
    ContactPair pair, part;
  };
  std::vector<std::vector<Found>> chunks_;
  std::vector<double> chunk_gap2_;
  std::vector<Found> found_;
};

}  // namespace pliant
