#pragma once

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <stdexcept>
#include <variant>

#include "pliant/sim/model.hpp"

// The equation of one step of backward Euler, evaluated by a judge: from meshes, densities and Material::stress, with
// masses, shape functions and sums of its own. It uses no energy, no assembler and nothing of the solvers.
//
//   r(x) = M (x - x^n - h v^n)/h^2 - M g + sum_e w P(F(x)) grad N          inertia, gravity, elasticity
//        + D (x - x^n)/h,   D = alpha M_lumped + beta K+(x^n)              Rayleigh damping
//        + sigma M_ii (x_i - c_i)                                          scripts by penalty, M consistent
//        + sum_grabs k w_a (p(x) - target)                                 grabs
//        + sum_colliders stiffness m_i min(d, 0) n                         colliders, over surface nodes
//        + sum_planes kappa dhat A_i dB/dd n                               contact with planes
//
// with r = 0 on prescribed unknowns and on nodes that move with rigid links. K+ is the sum of the elements' stiffness
// with d2Psi/dF2 of each quadrature point freed of its negative eigenvalues, here by an eigendecomposition of
// Material::hessian.
namespace pliant::testing {

/// How a solver takes scripts that ask for a penalty: as a term, or by putting the nodes where they belong.
enum class PenaltyScripts { as_terms, as_prescribed };

/// What is left of the equation at one state.
struct StepBalance {
  VecX residual;                    ///< N, zero where prescribed
  double force = 0;                 ///< its 2-norm, N
  double acceleration = 0;          ///< largest component of it over the node's mass, m/s^2
  double largest_force = 0;         ///< largest component of any of the terms that cancel, N
  double largest_acceleration = 0;  ///< and of any of them over the node's mass, m/s^2
};

class BackwardEuler {
 public:
  explicit BackwardEuler(std::shared_ptr<const Model> model) : model_(std::move(model)) {
    lumped_ = VecX::Zero(model_->nodes());
    diagonal_ = VecX::Zero(model_->nodes());
    for (const Body& body : model_->bodies()) add_elements(body);
  }

  /// kg per node.
  const VecX& lumped() const { return lumped_; }

  StepBalance balance(const State& before, const VecX& x, double h,
                      PenaltyScripts scripts = PenaltyScripts::as_terms) const {
    if (!model_->muscles().empty() || !model_->more_energies().empty())
      throw std::logic_error("BackwardEuler knows neither muscles nor energies from outside");
    const double time = before.time + h;
    const VecX step = x - before.x;
    const VecX gravity = model_->gravity().replicate(model_->nodes(), 1);
    std::vector<VecX> terms = {times_mass((step - h * before.v) / (h * h)), -times_mass(gravity), elastic(x),
                               damping(before.x, step / h), grabs(before.grabs, x)};
    if (model_->colliders()) terms.push_back(colliders(x, time));
    if (model_->contact()) terms.push_back(planes(x, time));
    std::vector<bool> prescribed(at(x.size()), false);
    for (const Pin& pin : model_->pins())
      for (Index i : pin.nodes)
        for (std::size_t axis = 0; axis < 3; ++axis)
          if (pin.axes[axis]) prescribed[3 * at(i) + axis] = true;
    if (model_->articulation())
      for (Index i = 0; i < model_->nodes(); ++i)
        if (model_->articulation()->link_of()[at(i)] >= 0)
          for (std::size_t axis = 0; axis < 3; ++axis) prescribed[3 * at(i) + axis] = true;
    VecX penalty = VecX::Zero(x.size());
    for (const Script& script : model_->scripts()) {
      if (time < script.start || time >= script.release) continue;
      for (std::size_t k = 0; k < script.nodes.size(); ++k) {
        const Index i = script.nodes[k];
        if (script.imposition == Imposition::penalty && scripts == PenaltyScripts::as_terms) {
          const Vec3 target = script.motion.position(k, node(model_->rest(), i), time);
          node(penalty, i) += script.sigma * diagonal_[i] * (node(x, i) - target);
        } else {
          for (std::size_t axis = 0; axis < 3; ++axis) prescribed[3 * at(i) + axis] = true;
        }
      }
    }
    terms.push_back(penalty);

    StepBalance result;
    result.residual = VecX::Zero(x.size());
    const bool is_lumped = model_->mass().kind() == MassKind::lumped;
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      if (prescribed[at(i)]) continue;
      const double mass = is_lumped ? lumped_[i / 3] : diagonal_[i / 3];
      double largest = 0;
      for (const VecX& term : terms) {
        result.residual[i] += term[i];
        largest = std::max(largest, std::abs(term[i]));
      }
      result.acceleration = std::max(result.acceleration, std::abs(result.residual[i]) / mass);
      result.largest_force = std::max(result.largest_force, largest);
      result.largest_acceleration = std::max(result.largest_acceleration, largest / mass);
    }
    result.force = result.residual.norm();
    return result;
  }

  /// sum_e integral of P : dN/dX, N; infinite or NaN where an element's law is.
  VecX elastic(const VecX& x) const {
    VecX f = VecX::Zero(x.size());
    for (const Point& point : points_) add(point, point.volume * point.material.stress(gradient(point, x)), f);
    return f;
  }

  /// The elastic energy, J; infinite where an element has left the domain of its law.
  double elastic_energy(const VecX& x) const {
    double sum = 0;
    for (const Point& point : points_) sum += point.volume * point.material.energy(gradient(point, x));
    return sum;
  }

  /// Quadrature points whose deformation gradient has a negative determinant.
  Index inverted(const VecX& x) const {
    return static_cast<Index>(std::count_if(
        points_.begin(), points_.end(), [&](const Point& point) { return !(gradient(point, x).determinant() > 0); }));
  }

 private:
  using Gradients = Eigen::Matrix<double, 3, Eigen::Dynamic>;

  /// A quadrature point: the element's nodes, grad N at rest, and its share of the volume.
  struct Point {
    std::vector<Index> nodes;
    Gradients gradients;
    double volume = 0;  ///< m^3
    Material material;
    double beta = 0;  ///< damping by stiffness, s
  };
  /// Part of the consistent mass matrix, the same for x, y and z.
  struct MassEntry {
    Index row, column;
    double value;  ///< kg
  };

  static Mat3 gradient(const Point& point, const VecX& x) {
    Mat3 F = Mat3::Zero();
    for (std::size_t a = 0; a < point.nodes.size(); ++a)
      F += node(x, point.nodes[a]) * point.gradients.col(Eigen::Index(a)).transpose();
    return F;
  }

  static void add(const Point& point, const Mat3& P, VecX& f) {
    for (std::size_t a = 0; a < point.nodes.size(); ++a)
      node(f, point.nodes[a]) += P * point.gradients.col(Eigen::Index(a));
  }

  /// Which corners a node of an element lies between: one for a corner, two for the middle of an edge.
  static std::vector<std::size_t> between(const Vec3& position, const std::array<Vec3, 4>& corners) {
    for (std::size_t a = 0; a < 4; ++a)
      for (std::size_t b = a; b < 4; ++b)
        if ((0.5 * (corners[a] + corners[b]) - position).norm() < 1e-12 * (corners[0] - corners[1]).norm())
          return a == b ? std::vector<std::size_t>{a} : std::vector<std::size_t>{a, b};
    throw std::logic_error("BackwardEuler knows elements of order 1 and 2");
  }

  /// 420/volume times the integral of N_a N_b over a quadratic tetrahedron.
  static double quadratic_mass(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
    const auto common = std::count_if(
        a.begin(), a.end(), [&](std::size_t corner) { return std::find(b.begin(), b.end(), corner) != b.end(); });
    if (a.size() == 1 && b.size() == 1) return common ? 6 : 1;
    if (a.size() == 2 && b.size() == 2) return common == 2 ? 32 : common == 1 ? 16 : 8;
    return common ? -4 : -6;
  }

  void add_elements(const Body& body) {
    if (!body.is_solid() && body.springs->stencils().count() == 0) {  // the points of a rigid link
      for (Index i = body.nodes.begin; i < body.nodes.end; ++i) {
        lumped_[i] = diagonal_[i] = body.density * body.network->measure[at(i - body.nodes.begin)];
        mass_.push_back({i, i, lumped_[i]});
      }
      return;
    }
    if (!body.is_solid() || !body.fibres.empty()) throw std::logic_error("BackwardEuler knows plain solids");
    const auto per_element = body.elements->elements().size() / body.mesh->tets().size();
    for (std::size_t e = 0; e < body.mesh->tets().size(); ++e) {
      std::array<Vec3, 4> X;
      for (std::size_t c = 0; c < 4; ++c) X[c] = body.mesh->vertices()[at(body.mesh->tets()[e][c])];
      Mat3 edges;
      for (std::size_t c = 0; c < 3; ++c) edges.col(Eigen::Index(c)) = X[c + 1] - X[0];
      const double volume = edges.determinant() / 6;
      Gradients lambda(3, 4);  // gradients of the barycentric coordinates
      lambda.rightCols(3) = edges.inverse().transpose();
      lambda.col(0) = -lambda.rightCols(3).rowwise().sum();

      Point point;
      point.material = {body.law, body.lame[body.lame.size() == 1 ? 0 : e]};
      point.beta = body.damping.stiffness;
      std::vector<std::vector<std::size_t>> places;
      for (std::size_t a = 0; a < per_element; ++a) {
        const Index i = body.elements->elements()[e * per_element + a];
        point.nodes.push_back(body.nodes.begin + i);
        places.push_back(between(body.elements->positions()[at(i)], X));
      }
      add_mass(point.nodes, places, body.density * volume);
      if (per_element == 4) {
        point.gradients.resize(3, 4);
        for (std::size_t a = 0; a < 4; ++a)
          point.gradients.col(Eigen::Index(a)) = lambda.col(Eigen::Index(places[a][0]));
        point.volume = volume;
        points_.push_back(point);
        continue;
      }
      // Four points of equal weight, exact for the quadratic strains' squares (Stroud).
      const double near = (5 + 3 * std::sqrt(5.0)) / 20, far = (5 - std::sqrt(5.0)) / 20;
      for (std::size_t q = 0; q < 4; ++q) {
        const auto barycentric = [&](std::size_t c) { return c == q ? near : far; };
        point.gradients.resize(3, Eigen::Index(per_element));
        for (std::size_t a = 0; a < per_element; ++a) {
          const std::size_t first = places[a].front(), second = places[a].back();
          point.gradients.col(Eigen::Index(a)) =
              places[a].size() == 1 ? Vec3((4 * barycentric(first) - 1) * lambda.col(Eigen::Index(first)))
                                    : Vec3(4 * (barycentric(first) * lambda.col(Eigen::Index(second)) +
                                                barycentric(second) * lambda.col(Eigen::Index(first))));
        }
        point.volume = volume / 4;
        points_.push_back(point);
      }
    }
  }

  void add_mass(const std::vector<Index>& nodes, const std::vector<std::vector<std::size_t>>& places, double mass) {
    const bool is_linear = nodes.size() == 4;
    for (std::size_t a = 0; a < nodes.size(); ++a) {
      // A quarter per corner; of order 2 the diagonal of the consistent matrix scaled to the element's mass.
      lumped_[nodes[a]] += mass * (is_linear ? 0.25 : places[a].size() == 1 ? 1.0 / 36 : 4.0 / 27);
      for (std::size_t b = 0; b < nodes.size(); ++b) {
        const double value = mass * (is_linear ? (a == b ? 0.1 : 0.05) : quadratic_mass(places[a], places[b]) / 420);
        mass_.push_back({nodes[a], nodes[b], value});
        if (a == b) diagonal_[nodes[a]] += value;
      }
    }
  }

  VecX times_mass(const VecX& a) const {
    VecX f = VecX::Zero(a.size());
    if (model_->mass().kind() == MassKind::lumped) {
      for (Index i = 0; i < model_->nodes(); ++i) node(f, i) = lumped_[i] * node(a, i);
    } else {
      for (const MassEntry& entry : mass_) node(f, entry.row) += entry.value * node(a, entry.column);
    }
    return f;
  }

  VecX damping(const VecX& x, const VecX& v) const {
    VecX f = VecX::Zero(x.size());
    for (const Body& body : model_->bodies())
      for (Index i = body.nodes.begin; i < body.nodes.end; ++i)
        node(f, i) += body.damping.mass * lumped_[i] * node(v, i);
    for (const Point& point : points_) {
      if (point.beta == 0) continue;
      const Eigen::SelfAdjointEigenSolver<Mat9> eigen(point.material.hessian(gradient(point, x)));
      const Mat3 rate = gradient(point, v);
      const Eigen::Matrix<double, 9, 1> stress = eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).asDiagonal() *
                                                 eigen.eigenvectors().transpose() * rate.reshaped();
      add(point, point.beta * point.volume * stress.reshaped(3, 3), f);
    }
    return f;
  }

  static VecX grabs(const std::vector<Grab>& grabs, const VecX& x) {
    VecX f = VecX::Zero(x.size());
    for (const Grab& grab : grabs) {
      Vec3 p = Vec3::Zero();
      for (std::size_t a = 0; a < 3; ++a) p += grab.weights[a] * node(x, grab.nodes[a]);
      for (std::size_t a = 0; a < 3; ++a)
        node(f, grab.nodes[a]) += grab.stiffness * grab.weights[a] * (p - grab.target);
    }
    return f;
  }

  /// The triangles that belong to one element only.
  static std::vector<Triangle> surface(const Body& body) {
    std::map<Triangle, int> count;
    for (const Tet& tet : body.mesh->tets())
      for (std::size_t left_out = 0; left_out < 4; ++left_out) {
        Triangle t;
        for (std::size_t c = 0, k = 0; c < 4; ++c)
          if (c != left_out) t[k++] = body.nodes.begin + tet[c];
        std::sort(t.begin(), t.end());
        ++count[t];
      }
    std::vector<Triangle> outside;
    for (const auto& [t, times] : count)
      if (times == 1) outside.push_back(t);
    return outside;
  }

  /// Area of the surface at rest that belongs to each node, m^2; zero inside. For elements of order 1.
  VecX areas() const {
    VecX area = VecX::Zero(model_->nodes());
    for (const Body& body : model_->bodies())
      for (const Triangle& t : surface(body)) {
        const Vec3 a = node(model_->rest(), t[0]), b = node(model_->rest(), t[1]), c = node(model_->rest(), t[2]);
        const Vec3 u = b - a, v = c - a;
        const double size = 0.5 * std::sqrt(std::max(0.0, u.squaredNorm() * v.squaredNorm() - u.dot(v) * u.dot(v)));
        for (Index i : t) area[i] += size / 3;
      }
    return area;
  }

  /// Planes only.
  VecX colliders(const VecX& x, double time) const {
    VecX f = VecX::Zero(x.size());
    const VecX area = areas();
    for (const Collider& collider : model_->colliders()->colliders()) {
      const auto& plane = std::get<PlaneShape>(collider.shape);
      const Vec3 shift = collider.motion.translation.at(time, Vec3::Zero());
      for (Index i = 0; i < model_->nodes(); ++i) {
        if (area[i] == 0) continue;
        const double d = (node(x, i) - plane.point - shift).dot(plane.normal);
        node(f, i) += collider.stiffness * lumped_[i] * std::min(d, 0.0) * plane.normal;
      }
    }
    return f;
  }

  /// Contact with planes, for bodies of which no two parts are nearer to each other than dhat.
  VecX planes(const VecX& x, double time) const {
    const ContactModel& contact = *model_->contact();
    if (!contact.obstacles.empty()) throw std::logic_error("BackwardEuler knows contact with planes");
    const double dhat = contact.options.dhat, kappa = contact.stiffness();
    VecX f = VecX::Zero(x.size());
    const VecX area = areas();
    for (const ContactModel::Placed& placed : contact.planes) {
      const Vec3 shift = placed.motion.translation.at(time, Vec3::Zero());
      for (Index i = 0; i < model_->nodes(); ++i) {
        const double d = (node(x, i) - placed.plane.point - shift).dot(placed.plane.normal), y = d * d / (dhat * dhat);
        if (area[i] == 0 || y >= 1) continue;
        const double slope = -2 * (y - 1) * std::log(y) - (y - 1) * (y - 1) / y;  // of B(y) = -(y - 1)^2 ln y
        node(f, i) += kappa * dhat * area[i] * slope * 2 * d / (dhat * dhat) * placed.plane.normal;
      }
    }
    return f;
  }

  std::shared_ptr<const Model> model_;
  std::vector<Point> points_;
  std::vector<MassEntry> mass_;
  VecX lumped_, diagonal_;  ///< kg per node: row sums, and M_ii of the consistent matrix
};

}  // namespace pliant::testing
