#include "pliant/sim/joint.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "pliant/base/error.hpp"
#include "pliant/energies/friction_energy.hpp"
#include "pliant/sim/anchor.hpp"

namespace pliant {

namespace {

/// Of the stiffness of a soft body's elements.
constexpr double kOverElement = 100;

class JointMaker {
 public:
  JointMaker(const JointOptions& options, const std::vector<Body>& bodies) : options_(options) {
    if (options.body >= bodies.size() || (options.to_body && *options.to_body >= bodies.size()))
      fail(fmt::format("it names a body that is not there; there are {}", bodies.size()));
    body_ = &bodies[options.body];
    if (options.to_body) other_ = &bodies[*options.to_body];
    check();
    axis_ = options.axis.normalized();
    arm_ = 0.5 * body_->rigid->size();
    stiffness_ = options.stiffness > 0 ? options.stiffness : chosen_stiffness();
  }

  std::vector<Tie> make() {
    const Vec3 &place = options_.place, along = arm_ * axis_;
    const Vec3 across = arm_ * tangents_of(axis_).col(0);
    switch (options_.kind) {
      case RigidJoint::ball:
        add(place);
        break;
      case RigidJoint::hinge:
        add(place + along);
        add(place - along);
        break;
      case RigidJoint::fixed:
        add(place + along);
        add(place - along);
        add(place + across);
        break;
      case RigidJoint::slider:
        for (const Vec3& p : {Vec3(place + along), Vec3(place - along), Vec3(place + across)}) add_sliding(p);
        break;
    }
    const bool turns = options_.kind == RigidJoint::hinge;
    if (options_.limits) add_limits(turns ? Vec3(place + across) : place);
    if (!options_.motor.keys.empty()) add_motor(turns ? Vec3(place + across) : place);
    return std::move(ties_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("joint '{}': {}", options_.name, what));
  }

  void check() const {
    if (!body_->rigid)
      fail(fmt::format("body '{}' is not rigid; joints hold rigid bodies ([[rigid]]), soft ones take [[attachment]]",
                       body_->name));
    if (body_ == other_) fail(fmt::format("body '{}' cannot be joined to itself; name another body", body_->name));
    if (!options_.place.allFinite() || !options_.axis.allFinite() || !(options_.axis.norm() > 0))
      fail("its place must be finite, and its axis have a direction");
    for (double k : {options_.stiffness, options_.motor_stiffness})
      if (!(k >= 0) || !std::isfinite(k)) fail("its stiffness must be positive (N/m)");
    const bool moves = options_.kind == RigidJoint::hinge || options_.kind == RigidJoint::slider;
    const bool is_held_by_soft = other_ && !other_->rigid;
    if (options_.kind == RigidJoint::slider && is_held_by_soft)
      fail(fmt::format("body '{}' is soft, and gives a slider no axis; join it to a rigid body or the world",
                       other_->name));
    if (!options_.limits && options_.motor.keys.empty()) return;
    if (!moves) fail("only hinges and sliders have limits and motors");
    if (is_held_by_soft)
      fail(fmt::format("limits and motors need a rigid body or the world on the other side, and body '{}' is soft",
                       other_->name));
    for (const auto& key : options_.motor.keys)
      if (!std::isfinite(key.value) || !std::isfinite(key.time)) fail("the keyframes of its motor must be finite");
    if (!options_.limits) return;
    const auto [least, most] = *options_.limits;
    if (!(least < most) || !std::isfinite(most - least)) fail("its limits must be two numbers, the lesser one first");
    if (options_.kind == RigidJoint::hinge && most - least >= 2 * std::numbers::pi)
      fail("the limits of a hinge must be less than a whole turn apart");
  }

  /// A body that yields by as much as its joints do: neither is the other's weak part.
  double chosen_stiffness() const {
    const auto own = [](const Body& body) {
      double sum = 0;
      for (const Lame& lame : body.lame) {
        const Lame linear = body.law->linearised(lame);
        sum += linear.lambda + 2 * linear.mu;
      }
      return sum / static_cast<double>(body.lame.size());
    };
    // The frame's tetrahedron stands for the whole body: the same energy in a smaller volume.
    const auto of_rigid = [&](const Body& body) {
      return own(body) * body.mesh->total_volume() / body.rigid->volume * std::cbrt(body.rigid->volume);
    };
    const double first = of_rigid(*body_);
    if (!other_) return first;
    if (other_->rigid) return std::min(first, of_rigid(*other_));
    if (!other_->is_solid()) return first;
    const double edge = std::cbrt(6 * other_->mesh->total_volume() / static_cast<double>(other_->mesh->tets().size()));
    return std::min(first, kOverElement * own(*other_) * edge);
  }

  void add_rigid_end(const Body& body, const Vec3& place, double sign, Tie& tie) const {
    const std::array<double, 4> weights = body.rigid->weights(place);
    for (std::size_t k = 0; k < 4; ++k) {
      tie.nodes.push_back(body.nodes.begin + static_cast<Index>(k));
      tie.weights.push_back(sign * weights[k]);
    }
  }

  /// From a place of the body to a place of the other.
  Tie tie_of(const Vec3& from, const Vec3& to) const {
    Tie tie;
    tie.stiffness = stiffness_;
    add_rigid_end(*body_, from, 1, tie);
    if (!other_) {
      tie.offset = to;
    } else if (other_->rigid) {
      add_rigid_end(*other_, to, -1, tie);
    } else {
      const Anchor anchor = AnchorFinder(*other_).find(to);
      for (std::size_t a = 0; a < anchor.nodes.size(); ++a) {
        tie.nodes.push_back(other_->nodes.begin + anchor.nodes[a]);
        tie.weights.push_back(-anchor.weights[a]);
      }
      // Shells and rods have their places on themselves alone; a tie is as long as its place is away.
      if (!other_->is_solid()) {
        check_holds(to, anchor.distance);
        tie.rest_length = anchor.distance;
      }
    }
    return tie;
  }

  /// A hinge or a fixed joint is held by places apart from each other. Ties from all of them to one place would let it
  /// turn as a ball joint does.
  void check_holds(const Vec3& place, double distance) const {
    constexpr double kBeside = 0.1;
    if (options_.kind == RigidJoint::ball || distance <= kBeside * arm_) return;
    fail(
        fmt::format("body '{}' is a {} and has nothing at [{:.4g}, {:.4g}, {:.4g}] for a {} joint to hold by; fasten "
                    "its vertices to "
                    "the rigid body ([[attachment]]{}), or take kind = \"ball\"",
                    other_->name, other_->rod ? "rod" : "sheet", place.x(), place.y(), place.z(),
                    options_.kind == RigidJoint::hinge ? "hinge" : "fixed",
                    other_->rod ? " with where = \"first-segment\" clamps it" : ""));
  }

  void add(const Vec3& place) { ties_.push_back(tie_of(place, place)); }

  void add_sliding(const Vec3& place) {
    Tie tie = tie_of(place, place);
    tie.freedom = TieFreedom::line;
    if (!other_) {
      tie.axis = axis_;
    } else {
      tie.axis_weights.assign(8, 0.0);
      const std::array<Vec3, 4> slopes = other_->rigid->slopes();
      for (std::size_t k = 0; k < 4; ++k) tie.axis_weights[4 + k] = slopes[k].dot(axis_);
    }
    ties_.push_back(std::move(tie));
  }

  /// One spring that only pulls, from the middle of a slider's way, or only pushes, from the place that is opposite to
  /// the middle of a hinge's: the chord to it is 2 r cos(d/2) long where the hinge is d away from the middle.
  void add_limits(const Vec3& tip) {
    const auto [least, most] = *options_.limits;
    const double middle = 0.5 * (least + most), half = 0.5 * (most - least);
    if (options_.kind == RigidJoint::slider) {
      Tie tie = tie_of(tip, tip + middle * axis_);
      tie.side = TieSide::longer;
      tie.rest_length = half;
      ties_.push_back(std::move(tie));
      return;
    }
    const Eigen::AngleAxisd opposite(middle + std::numbers::pi, axis_);
    Tie tie = tie_of(tip, options_.place + opposite * (tip - options_.place));
    tie.side = TieSide::shorter;
    tie.rest_length = 2 * arm_ * std::cos(half / 2);
    ties_.push_back(std::move(tie));
  }

  void add_motor(const Vec3& tip) {
    Tie tie = tie_of(tip, tip);
    if (options_.motor_stiffness > 0) tie.stiffness = options_.motor_stiffness;
    auto motion = std::make_shared<TieMotion>();
    motion->value = options_.motor;
    motion->turns = options_.kind == RigidJoint::hinge;
    motion->centre = options_.place;
    motion->axis = axis_;
    motion->place = tip;
    if (other_) {
      tie.slopes.assign(8, Vec3::Zero());
      const std::array<Vec3, 4> slopes = other_->rigid->slopes();
      for (std::size_t k = 0; k < 4; ++k) tie.slopes[4 + k] = slopes[k];
    }
    tie.motion = std::move(motion);
    ties_.push_back(std::move(tie));
  }

  const JointOptions& options_;
  const Body *body_ = nullptr, *other_ = nullptr;
  Vec3 axis_ = Vec3::UnitZ();
  double arm_ = 0;        ///< m
  double stiffness_ = 0;  ///< N/m
  std::vector<Tie> ties_;
};

}  // namespace

std::vector<Tie> make_joint(const JointOptions& options, const std::vector<Body>& bodies) {
  return JointMaker(options, bodies).make();
}

}  // namespace pliant
