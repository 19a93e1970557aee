#pragma once

#include <compare>
#include <memory>

#include "pliant/contact/bvh.hpp"
#include "pliant/contact/contact_surface.hpp"

namespace pliant {

/// Two primitives of a surface, by their numbers in it: a point (its number among the positions) and a triangle, or two
/// edges, the smaller number first.
struct CandidatePair {
  Index first;
  Index second;
  auto operator<=>(const CandidatePair&) const = default;
};

/// Pairs that may be near, ascending: the same list whatever the tree and the number of threads.
struct Candidates {
  std::vector<CandidatePair> point_triangle;
  std::vector<CandidatePair> edge_edge;
};

/// What a search is for: bodies that only push points out of triangles do without edges.
enum class CandidateKinds { point_triangle, both };

/// Finds the pairs of a surface's primitives whose boxes come near each other, leaving out those that share a vertex or
/// whose groups never touch. Keeps its trees and memory between searches.
class BroadPhase {
 public:
  explicit BroadPhase(std::shared_ptr<const ContactSurface> surface);

  const ContactSurface& surface() const { return *surface_; }

  /// All pairs nearer than `distance` (m), and some more. `x` holds the positions, three numbers each.
  void find(const VecX& x, double distance, Candidates& found, CandidateKinds kinds = CandidateKinds::both);
  /// All pairs that come nearer than `distance` while every position moves along a line from x to x + dx.
  void find_swept(const VecX& x, const VecX& dx, double distance, Candidates& found,
                  CandidateKinds kinds = CandidateKinds::both);
  /// Edges and triangles whose boxes overlap, as (edge, triangle): what an intersection test needs.
  void find_edge_triangle(const VecX& x, std::vector<CandidatePair>& found);

 private:
  Bvh::Kinds touched_by(Index position) const {
    return touches_[static_cast<std::size_t>(surface_->group[static_cast<std::size_t>(position)])];
  }
  void search(double distance, Candidates& found, CandidateKinds kinds);
  template <class BoxOf>
  void fill(BoxOf&& box_of, CandidateKinds kinds);
  void gather(std::vector<CandidatePair>& found);

  std::shared_ptr<const ContactSurface> surface_;
  Bvh triangle_tree_, edge_tree_;
  std::vector<Aabb> points_, edges_, triangles_;
  std::vector<Bvh::Kinds> edge_kinds_, triangle_kinds_;  ///< a bit for each group (they are shared beyond 64)
  std::vector<Bvh::Kinds> touches_;                      ///< of each group: the bits of those it may touch
  Bvh::Kinds passive_ = 0;  ///< groups that touch neither themselves nor each other, as obstacles: others find them
  std::vector<std::vector<CandidatePair>> chunks_;  ///< what each chunk of a search found
};

}  // namespace pliant
