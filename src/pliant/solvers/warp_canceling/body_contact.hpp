#pragma once

#include <memory>
#include <vector>

#include "pliant/contact/broad_phase.hpp"
#include "pliant/sim/model.hpp"

namespace pliant {

/// Which surfaces push each other apart.
enum class BodyContactKind { none, bodies, self };

struct BodyContactOptions {
  BodyContactKind kind = BodyContactKind::none;
  double distance = 0;     ///< at which they begin to, m; 0: a fifth of the mean edge of the surfaces
  double stiffness = 1e5;  ///< 1/s^2
  double friction = 0;     ///< Coulomb's coefficient
};

/// A point of a surface near, or behind, a triangle of another one.
struct BodyContact {
  Index point;
  Triangle triangle;
  Vec3 weights;  ///< barycentric, of the nearest point of the triangle
  Vec3 normal;   ///< unit, the way the point is pushed
  double depth;  ///< m, by which it is nearer than the distance
};

/// Finds the contacts of a state: for every point of the surfaces the nearest triangle of another body (or of its own,
/// unless the two are neighbours at rest) within the distance, or behind which the point has come. A point is behind
/// when it lies on the inner side of its nearest triangle.
class BodyContacts {
 public:
  BodyContacts(std::shared_ptr<const Model> model, const BodyContactOptions& options);

  bool none() const { return !phase_; }
  const BodyContactOptions& options() const { return options_; }
  /// `reach`: how far behind a triangle a point may have come, m: what it moves within a step.
  const std::vector<BodyContact>& find(const VecX& x, double reach);

 private:
  bool neighbours_at_rest(Index point, const Triangle& triangle) const;

  std::shared_ptr<const Model> model_;
  BodyContactOptions options_;
  double edge_ = 0;  ///< mean edge of the surfaces, m
  std::unique_ptr<BroadPhase> phase_;
  Candidates candidates_;
  std::vector<BodyContact> contacts_;
};

/// Barycentric weights of the point of a triangle nearest to p.
Vec3 nearest_on_triangle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c);

}  // namespace pliant
