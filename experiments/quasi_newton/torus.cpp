#include "experiments/quasi_newton/torus.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "experiments/quasi_newton/scenes.hpp"

namespace pliant::experiments {

namespace {

/// Contacts as an iteration saw them: ((x - t) . n)^2 per node, two-sided while the iteration lasts, as it is printed.
struct FrozenContacts {
  struct Contact {
    Index node;
    Vec3 point, normal;
    double stiffness;
  };
  std::vector<Contact> contacts;

  FrozenContacts(const Model& model, const VecX& x, double time) {
    const ColliderPenalty& penalty = *model.colliders();
    for (Index s = 0; s < penalty.stencils().count(); ++s) {
      const Index i = penalty.stencils()[s][0];
      for (const Collider& collider : penalty.colliders()) {
        const Distance d = distance(collider, collider.motion.pose(time), node(x, i));
        if (d.value < 0)
          contacts.push_back({i, node(x, i) - d.value * d.normal, d.normal,
                              collider.stiffness * penalty.masses()[static_cast<std::size_t>(s)]});
      }
    }
  }
  double energy(const VecX& x) const {
    double sum = 0;
    for (const Contact& c : contacts) {
      const double depth = (node(x, c.node) - c.point).dot(c.normal);
      sum += 0.5 * c.stiffness * depth * depth;
    }
    return sum;
  }
};

}  // namespace

std::vector<Index> nodes_inside(const Model& model, const VecX& x, double time) {
  std::vector<Index> inside;
  for (const auto& contact : FrozenContacts(model, x, time).contacts) inside.push_back(contact.node);
  std::sort(inside.begin(), inside.end());
  inside.erase(std::unique(inside.begin(), inside.end()), inside.end());
  return inside;
}

double aligned_distance(const VecX& rest, const VecX& x) {
  const Eigen::Map<const Eigen::Matrix3Xd> from(rest.data(), 3, rest.size() / 3), to(x.data(), 3, x.size() / 3);
  const Eigen::Matrix4d T = Eigen::umeyama(from, to, false);
  return (((T.topLeftCorner<3, 3>() * from).colwise() + T.topRightCorner<3, 1>()) - to).colwise().norm().maxCoeff();
}

TorusScene torus_scene(const MeshData& data, double factor, double seconds) {
  const auto mesh = std::make_shared<TetMesh>(data);
  TorusScene torus;
  torus.axis = longest_axis(*mesh);
  Vec3 low = mesh->vertices()[0], high = low;
  for (const Vec3& p : mesh->vertices()) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  const Vec3 middle = 0.5 * (low + high);
  torus.radius = 0;
  for (const Vec3& p : mesh->vertices()) {
    Vec3 across = p - middle;
    across[torus.axis] = 0;
    torus.radius = std::max(torus.radius, across.norm());
  }
  torus.hole = 0.7 * torus.radius;
  torus.tube = 0.5 * torus.hole;
  torus.ball = 0.75 * torus.hole;

  const Vec3 up = Vec3::Unit(torus.axis);
  TorusShape ring;
  ring.axis = up;
  ring.tube = torus.tube;
  ring.ring = torus.hole + torus.tube;
  ring.centre = middle;
  ring.centre[torus.axis] = low[torus.axis] - 0.8 * torus.tube;
  SphereShape ball;
  ball.radius = torus.ball;
  ball.centre = middle;
  ball.centre[torus.axis] = high[torus.axis] + 1.05 * torus.ball;

  // The ball goes straight through and stops below.
  const double length = ball.centre[torus.axis] - ring.centre[torus.axis], way = length + 3 * torus.ball;
  Motion push;
  push.translation.keys = {{0, Vec3::Zero()}, {seconds, -way * up}};
  torus.frames = static_cast<int>(std::lround(seconds / kFrame)) + 45;

  const BodyOptions body = ten_kilograms(mesh, "linear-corotated", {5 * factor, 200 * factor});
  ModelBuilder builder;
  builder.add_body(body);
  builder.set_collider_law(ColliderLaw::penalty);
  // 1000 a vertex in the authors' code; here stiffness is per mass.
  const double stiffness = 1000 * static_cast<double>(mesh->vertices().size()) / 10;
  builder.add_collider({"torus", ring, {}, stiffness, 0});
  builder.add_collider({"ball", ball, push, stiffness, 0});
  torus.scene.model = builder.build();
  torus.scene.start = torus.scene.model->rest_state();
  // Without weight: at mu = 5 and mass 10 the authors' gravity of 10 alone pulls the body through in eight frames.
  torus.scene.size = extent_of(mesh->vertices());
  return torus;
}

TorusRun squeeze_through(Context& context, const TorusScene& torus, int most_frames) {
  TorusRun run;
  const Model& model = *torus.scene.model;
  Descent ours(torus.scene.model, {});
  State state = torus.scene.start;
  std::vector<Index> last;
  const int frames = std::min(most_frames, torus.frames);
  for (int k = 0; k < frames && run.finite && !context.stopped(); ++k) {
    begin_frame(torus.scene, state);
    const State begin = state;
    std::optional<FrozenContacts> seen;
    double before = 0;
    const auto with_set = [&](const VecX& x) {
      return ours.potential().value(x, {.colliders = false}) + (seen ? seen->energy(x) : 0);
    };
    const auto watch = [&](const Iterate& current, const VecX&, double) {
      if (seen) {
        ++run.iterations;
        run.rises += with_set(current.x) > before * (1 + (before > 0 ? 1e-12 : -1e-12));
      }
      seen.emplace(model, current.x, ours.potential().problem().end);
      before = with_set(current.x);
    };
    const DescentFrame frame = ours.solve(state, kFrame, watch);
    run.factorisations += frame.factorisations;
    run.finite = frame.x.allFinite() && std::isfinite(frame.energy);
    if (!run.finite) break;
    VecX v;
    ours.potential().velocities(frame.x, v);
    ours.potential().end_step(frame.x, v, state);
    const std::vector<Index> inside = nodes_inside(model, state.x, state.time);
    run.touching.push_back(static_cast<Index>(inside.size()));
    run.evaluations.push_back(frame.evaluations());
    run.changing_frames += inside != last;
    if (!inside.empty()) run.contact_begins.push_back(begin);
    last = inside;
  }
  run.end = state;
  return run;
}

}  // namespace pliant::experiments
