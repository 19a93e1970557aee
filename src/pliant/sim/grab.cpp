#include "pliant/sim/grab.hpp"

#include <Eigen/Geometry>
#include <limits>

#include "pliant/base/error.hpp"
#include "pliant/sim/model.hpp"

namespace pliant {

std::optional<Grab> grab_along_ray(const Model& model, const VecX& x, const Vec3& eye, const Vec3& direction,
                                   double strength) {
  constexpr double kGravity = 9.81;
  std::optional<Grab> nearest;
  double least = std::numeric_limits<double>::infinity();
  const VecX all = model.drawn(x);
  for (const Body& body : model.bodies()) {
    const std::vector<Triangle> tube =
        body.rod ? rod_tube(body.nodes.size(), body.rod->is_closed()).triangles : std::vector<Triangle>();
    const Index first =
        body.rod ? model.nodes() + static_cast<Index>(model.carried().size()) + body.first_tube : body.nodes.begin;
    // Of a rigid body, its frame, which lies within.
    for (const Triangle& triangle : body.rod ? std::span<const Triangle>(tube) : body.surface()) {
      // Moeller and Trumbore, "Fast, minimum storage ray/triangle intersection", 1997; either side.
      std::array<Index, 3> nodes;
      for (std::size_t a = 0; a < 3; ++a) nodes[a] = first + triangle[a];
      const Vec3 origin = node(all, nodes[0]), u = node(all, nodes[1]) - origin, v = node(all, nodes[2]) - origin;
      const Vec3 p = direction.cross(v);
      const double determinant = u.dot(p);
      if (determinant == 0) continue;
      const Vec3 t = eye - origin, q = t.cross(u);
      const double b = t.dot(p) / determinant, c = direction.dot(q) / determinant, along = v.dot(q) / determinant;
      if (!(b >= 0 && c >= 0 && b + c <= 1 && along >= 0 && along < least)) continue;
      least = along;
      for (Index& i : nodes) i = model.node_of_drawn(i);
      nearest = Grab{nodes, {1 - b - c, b, c}, eye + along * direction, strength * kGravity * body.mass()};
    }
  }
  return nearest;
}

void check_grabs(const Model& model, std::span<const Grab> grabs) {
  for (const Grab& grab : grabs)
    for (Index i : grab.nodes)
      for (Index j : grab.nodes)
        if (i < 0 || i >= model.nodes() || (i < j && j < model.nodes() && model.pattern()->find(i, j) < 0))
          throw InputError("a grab must name the three nodes of a surface triangle of one body");
}

void add_grab_hessian(std::span<const Grab> grabs, double scale, BlockMatrix& H) {
  for (const Grab& grab : grabs)
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b) {
        if (grab.nodes[a] > grab.nodes[b]) continue;
        double* block = H.block(H.pattern().find(grab.nodes[a], grab.nodes[b]));
        for (int c = 0; c < 3; ++c) block[4 * c] += scale * grab.stiffness * grab.weights[a] * grab.weights[b];
      }
}

}  // namespace pliant
