// With e = x1 - x0, N1 = e x (x2 - x0) and N2 = (x3 - x0) x e, the angle's derivatives by the corners that are not on
// the edge are those of a triangle that turns about it,
//
//   g2 = -|e| N1/|N1|^2,   g3 = -|e| N2/|N2|^2,
//
// and moving an end of the edge does what moving the corners the other way would do, as far along the edge as these
// are: with t2 = (x2 - x0).e/|e|^2 and t3 likewise, g0 = -(1 - t2) g2 - (1 - t3) g3 and g1 = -t2 g2 - t3 g3. The
// Hessian is the derivative of these products.
#include "pliant/energies/hinge_angle.hpp"

#include <Eigen/Geometry>
#include <cmath>

namespace pliant {

namespace {

using Row12 = Eigen::Matrix<double, 1, 12>;
using Jacobian = Eigen::Matrix<double, 3, 12>;

Mat3 hinge_cross(const Vec3& a) {
  Mat3 m;
  m << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return m;
}

struct Hinge {
  Vec3 e, N1, N2;
  double length2, length;

  explicit Hinge(const std::array<Vec3, 4>& x)
      : e(x[1] - x[0]),
        N1(e.cross(x[2] - x[0])),
        N2((x[3] - x[0]).cross(e)),
        length2(e.squaredNorm()),
        length(std::sqrt(length2)) {}

  double theta() const { return std::atan2(N1.cross(N2).dot(e) / length, N1.dot(N2)); }
  Vec3 pull(const Vec3& N) const { return -length / N.squaredNorm() * N; }
  double along(const Vec3& arm) const { return arm.dot(e) / length2; }
};

/// Of -|e| N/|N|^2, with dN by the corners.
Jacobian pull_jacobian(const Hinge& hinge, const Vec3& N, const Jacobian& dN, const Jacobian& de) {
  const double n2 = N.squaredNorm();
  const Mat3 direction = Mat3::Identity() / n2 - 2 / (n2 * n2) * N * N.transpose();
  return -N / n2 * (hinge.e.transpose() / hinge.length * de) - hinge.length * direction * dN;
}

/// Of (arm . e)/|e|^2.
Row12 along_gradient(const Hinge& hinge, const Vec3& arm, const Jacobian& darm, const Jacobian& de) {
  return (hinge.e.transpose() * darm + arm.transpose() * de) / hinge.length2 -
         2 * hinge.along(arm) / hinge.length2 * hinge.e.transpose() * de;
}

}  // namespace

double hinge_angle(const std::array<Vec3, 4>& x) { return Hinge(x).theta(); }

HingeAngle hinge_gradient(const std::array<Vec3, 4>& x) {
  const Hinge hinge(x);
  const Vec3 g2 = hinge.pull(hinge.N1), g3 = hinge.pull(hinge.N2);
  const double t2 = hinge.along(x[2] - x[0]), t3 = hinge.along(x[3] - x[0]);
  HingeAngle angle;
  angle.theta = hinge.theta();
  angle.gradient << -(1 - t2) * g2 - (1 - t3) * g3, -t2 * g2 - t3 * g3, g2, g3;
  return angle;
}

Eigen::Matrix<double, 12, 12> hinge_hessian(const std::array<Vec3, 4>& x, HingeAngle& angle) {
  angle = hinge_gradient(x);
  const Hinge hinge(x);
  const Vec3 g2 = hinge.pull(hinge.N1), g3 = hinge.pull(hinge.N2), a2 = x[2] - x[0], a3 = x[3] - x[0];
  const double t2 = hinge.along(a2), t3 = hinge.along(a3);
  const auto difference = [](int of) {  // x_of - x0
    Jacobian d = Jacobian::Zero();
    d.block<3, 3>(0, 3 * of).setIdentity();
    d.block<3, 3>(0, 0) = -Mat3::Identity();
    return d;
  };
  const Jacobian de = difference(1), d2 = difference(2), d3 = difference(3);
  const Jacobian dN1 = hinge_cross(hinge.e) * d2 - hinge_cross(a2) * de;
  const Jacobian dN2 = hinge_cross(a3) * de - hinge_cross(hinge.e) * d3;
  const Jacobian dg2 = pull_jacobian(hinge, hinge.N1, dN1, de), dg3 = pull_jacobian(hinge, hinge.N2, dN2, de);
  const Row12 dt2 = along_gradient(hinge, a2, d2, de), dt3 = along_gradient(hinge, a3, d3, de);
  Eigen::Matrix<double, 12, 12> H;
  H.middleRows<3>(0) = g2 * dt2 + g3 * dt3 - (1 - t2) * dg2 - (1 - t3) * dg3;
  H.middleRows<3>(3) = -g2 * dt2 - g3 * dt3 - t2 * dg2 - t3 * dg3;
  H.middleRows<3>(6) = dg2;
  H.middleRows<3>(9) = dg3;
  return 0.5 * (H + H.transpose());
}

}  // namespace pliant
