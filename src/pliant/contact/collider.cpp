#include "pliant/contact/collider.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "pliant/base/error.hpp"

namespace pliant {

namespace {

/// Some unit vector across a unit vector: for points where the normal is not unique.
Vec3 any_perpendicular(const Vec3& a) {
  const Vec3 other = std::abs(a.x()) < 0.6 ? Vec3::UnitX() : Vec3::UnitY();
  return a.cross(other).normalized();
}

Mat3 across(const Vec3& n) { return Mat3::Identity() - n * n.transpose(); }

/// Distance to a round surface: |offset| - radius along the offset, which lies in the space of `allowed` directions.
Distance round(const Vec3& offset, double radius, const Vec3& fallback, const Mat3& allowed) {
  Distance d;
  const double length = offset.norm();
  d.normal = length > 0 ? Vec3(offset / length) : fallback;
  d.value = length - radius;
  // At the very centre the curvature is infinite; a thousandth of the radius from it will do.
  d.curvature = (allowed - d.normal * d.normal.transpose()) / std::max(length, 1e-3 * radius);
  return d;
}

struct Measure {
  const Vec3& p;

  Distance operator()(const PlaneShape& s) const { return {s.normal.dot(p - s.point), s.normal, Mat3::Zero()}; }

  Distance operator()(const SphereShape& s) const {
    return round(p - s.centre, s.radius, Vec3::UnitY(), Mat3::Identity());
  }

  Distance operator()(const BoxShape& s) const {
    const Vec3 local = p - s.centre, q = local.cwiseAbs() - s.half;
    const Vec3 sign = local.unaryExpr([](double x) { return x < 0 ? -1.0 : 1.0; });
    const Vec3 outside = q.cwiseMax(0);
    if (outside.squaredNorm() > 0) return {outside.norm(), outside.normalized().cwiseProduct(sign), Mat3::Zero()};
    Eigen::Index face = 0;
    const double value = q.maxCoeff(&face);
    Vec3 normal = Vec3::Zero();
    normal[face] = sign[face];
    return {value, normal, Mat3::Zero()};
  }

  Distance operator()(const CylinderShape& s) const {
    const Vec3 local = p - s.centre;
    const double along = local.dot(s.axis);
    const Vec3 radial = local - along * s.axis;
    Distance side = round(radial, s.radius, any_perpendicular(s.axis), across(s.axis));
    const double cap = std::abs(along) - s.half_length;
    const Vec3 end = along < 0 ? Vec3(-s.axis) : s.axis;
    if (side.value > 0 && cap > 0) {
      const Vec3 v = side.value * side.normal + cap * end;
      return {v.norm(), v.normalized(), Mat3::Zero()};
    }
    return cap > side.value ? Distance{cap, end, Mat3::Zero()} : side;
  }

  Distance operator()(const CapsuleShape& s) const {
    const Vec3 edge = s.end - s.begin;
    const double t = (p - s.begin).dot(edge) / edge.squaredNorm();
    const Vec3 axis = edge.normalized();
    const Vec3 nearest = s.begin + std::clamp(t, 0.0, 1.0) * edge;
    return round(p - nearest, s.radius, any_perpendicular(axis),
                 t > 0 && t < 1 ? across(axis) : Mat3(Mat3::Identity()));
  }

  Distance operator()(const TorusShape& s) const {
    const Vec3 local = p - s.centre;
    const double along = local.dot(s.axis);
    const Vec3 radial = local - along * s.axis;
    const double length = radial.norm();
    const Vec3 outwards = length > 0 ? Vec3(radial / length) : any_perpendicular(s.axis);
    const Vec3 around = s.axis.cross(outwards);
    // In the plane of the axis and the point it is a circle; the second curvature is that of the ring.
    Distance d = round(local - s.ring * outwards, s.tube, outwards, across(around));
    d.curvature += d.normal.dot(outwards) / std::max(length, 1e-3 * s.ring) * around * around.transpose();
    return d;
  }

  Distance operator()(const BowlShape& s) const {
    const Vec3 local = p - s.centre;
    const double along = local.dot(s.axis);
    const Vec3 radial = local - along * s.axis;
    const double length = radial.norm();
    if (along > 0) {  // above the rim: outside the block
      if (length >= s.radius) return {along, s.axis, Mat3::Zero()};
      const Vec3 outwards = length > 0 ? Vec3(radial / length) : any_perpendicular(s.axis);
      const Vec3 from_rim = local - s.radius * outwards;
      return {from_rim.norm(), from_rim.normalized(), Mat3::Zero()};
    }
    const Distance sphere = round(local, s.radius, -s.axis, Mat3::Identity());
    // Inside the block: out through the hollow, or through the top where that is nearer.
    if (sphere.value > 0 && length > s.radius && -along < sphere.value) return {along, s.axis, Mat3::Zero()};
    return {-sphere.value, -sphere.normal, -sphere.curvature};
  }
};

void require_positive(double size, const std::string& name, const char* what) {
  if (!(size > 0) || !std::isfinite(size))
    throw InputError("collider '" + name + "': " + what + " must be a positive number of metres");
}
void require_unit(const Vec3& v, const std::string& name, const char* what) {
  if (!(std::abs(v.norm() - 1) < 1e-6)) throw InputError("collider '" + name + "': " + what + " must be a unit vector");
}

}  // namespace

Distance distance(const Shape& shape, const Vec3& p) { return std::visit(Measure{p}, shape); }

void check_shape(const Shape& shape, const std::string& name) {
  struct Check {
    const std::string& name;
    void operator()(const PlaneShape& s) const { require_unit(s.normal, name, "the normal"); }
    void operator()(const SphereShape& s) const { require_positive(s.radius, name, "the radius"); }
    void operator()(const BoxShape& s) const {
      for (double size : s.half) require_positive(size, name, "every size");
    }
    void operator()(const CylinderShape& s) const {
      require_unit(s.axis, name, "the axis");
      require_positive(s.radius, name, "the radius");
      require_positive(s.half_length, name, "the length");
    }
    void operator()(const CapsuleShape& s) const {
      require_positive(s.radius, name, "the radius");
      require_positive((s.end - s.begin).norm(), name, "the distance of its ends");
    }
    void operator()(const TorusShape& s) const {
      require_unit(s.axis, name, "the axis");
      require_positive(s.ring, name, "the radius of its ring");
      require_positive(s.tube, name, "the radius of its tube");
    }
    void operator()(const BowlShape& s) const {
      require_unit(s.axis, name, "the axis");
      require_positive(s.radius, name, "the radius");
    }
  };
  std::visit(Check{name}, shape);
}

Distance distance(const Collider& collider, const RigidPose& pose, const Vec3& p) {
  Distance d = distance(collider.shape, pose.to_rest(p));
  d.normal = pose.rotation * d.normal;
  d.curvature = pose.rotation * d.curvature * pose.rotation.transpose();
  return d;
}

}  // namespace pliant
