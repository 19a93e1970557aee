#pragma once

#include "pliant/mesh/colouring.hpp"
#include "pliant/sim/contact/contact_step.hpp"
#include "pliant/sim/contact/safe_move.hpp"
#include "pliant/solvers/pxpbd/background_grid.hpp"

namespace pliant::pbd {

/// The unknowns of a sweep, mesh nodes or grid nodes: four doubles each, x, y, z and the inverse mass, with factors by
/// axis that are 0 where it is held, or null.
struct Unknowns {
  double* data;
  const double* axes;

  auto position(Index i) const { return Vec3::Map(data + 4 * at(i)); }
  Vec3 inverse_mass(Index i) const {
    const double w = data[4 * at(i) + 3];
    return axes ? Vec3(w * Vec3::Map(axes + 3 * at(i))) : Vec3::Constant(w);
  }
};

/// Rounds of contact alone before the first sweep, in which bodies come from where the step begins to where they are
/// predicted or touch.
inline constexpr int kFirstRounds = 2;
/// Sweeps beyond those that were asked for, at most, until obstacles have arrived.
inline constexpr int kLastSweeps = 50;

/// Contact as further local problems (docs/pxpbd.md, "Contact"): the unknown of each pair of surfaces is its force, and
/// so is that of each pair that rubs, by the laws of BarrierEnergy and FrictionEnergy.
///
/// Sweeps move the unknowns freely, through anything. Beside them there are *safe positions* of the vertices, which
/// begin where the step begins, follow the unknowns as far as nothing intersects on the way (SafeMove), and are the
/// state that the step leaves behind. They alone tell which pairs are near, where these are nearest and which side is
/// which; the forces act on the unknowns and depend on how far these are apart along the normals found there. Where
/// sweeps have converged both are the same, and so are the equations of every other solver.
class ContactForces {
 public:
  explicit ContactForces(std::shared_ptr<const ContactModel> model);

  /// Vertices are the unknowns themselves, or embedded in a grid.
  void begin_step(ContactStep& contact, const StepProblem& problem, const Unknowns& unknowns,
                  const BackgroundGrid* grid = nullptr);
  /// One visit to every pair.
  void visit(const Unknowns& unknowns);
  /// The safe positions go where the unknowns are, as far as they can, and obstacles and prescribed nodes to where the
  /// step ends; pairs are found anew.
  void follow(const Unknowns& unknowns);
  /// Normal forces and directions of friction are those at the safe positions from here on.
  void renew_friction(const Unknowns& unknowns);

  /// Of the vertices.
  const VecX& positions() const { return of_vertices_; }
  /// Whether all prescribed motion of the step is complete, and how much of it is, 0 to 1.
  bool arrived() const;
  double progress() const;
  /// The same for people.
  std::string describe_progress() const;
  /// The largest distance between a vertex and its safe position, m.
  double held_back() const { return held_back_; }
  /// Calls add(i, axis, h^2 p_axis) for all that the pairs push at.
  template <class Add>
  void for_impulses(Add&& add) const {
    for (const Share& share : shares_)
      for (int axis = 0; axis < 3; ++axis) add(share.unknown, axis, share.impulse[axis]);
    for (const Rub& rub : rubs_)
      for (Index k = rub.shares.begin; k < rub.shares.end; ++k)
        for (int axis = 0; axis < 3; ++axis)
          add(rub_shares_[at(k)].unknown, axis, rub_shares_[at(k)].weight * rub.impulse[axis]);
  }

 private:
  struct Share {
    Index unknown = 0;
    double weight = 0;            ///< of the unknown in the difference of the nearest points
    Vec3 twist = Vec3::Zero();    ///< h^2 times the gradient of the mollifier, lagged
    Vec3 impulse = Vec3::Zero();  ///< h^2 times the gradient that the unknown has given way to, kg m
  };
  struct Pair {
    ContactPair pair;
    Range shares;
    Vec3 normal = Vec3::Zero();
    double offset = 0;    ///< d = normal . sum weight x + offset, m
    double factor = 0;    ///< of the barrier, J/m^4
    double distance = 0;  ///< at the last visit, m
    bool pushes = false;
  };
  struct RubShare {
    Index unknown = 0;
    double weight = 0;
  };
  struct Rub {
    Range shares;
    Eigen::Matrix<double, 3, 2> tangents;
    Eigen::Vector2d offset = Eigen::Vector2d::Zero();  ///< slip = tangents^T sum weight x + offset, m
    double force = 0;                                  ///< coefficient of friction times normal force, N
    Vec3 impulse = Vec3::Zero();                       ///< h^2 times the force of friction, kg m
  };

  void find_pairs(const Unknowns& unknowns);
  void merge_pairs();
  void place_pair(Pair& pair, const Unknowns& unknowns);
  void set_rubs();
  void visit_pair(Pair& pair, const Unknowns& unknowns);
  void visit_rub(Rub& rub, const Unknowns& unknowns);
  void vertex_positions(const Unknowns& unknowns, VecX& x) const;
  void set_vertices() { of_vertices_ = x_.head(3 * Eigen::Index(model_->unknowns())); }
  template <class Add>
  void for_unknowns_of(Index vertex, Add&& add) const;
  ColourOrder colour(std::span<const Range> ranges, std::span<const Index> unknowns) const;

  std::shared_ptr<const ContactModel> model_;
  SafeMove gate_;
  ContactStep* contact_ = nullptr;
  const StepProblem* problem_ = nullptr;
  const BackgroundGrid* grid_ = nullptr;
  Index unknown_count_ = 0;
  double h2_ = 0;
  VecX x_, target_;   ///< of the vertices and what they carry
  VecX of_vertices_;  ///< the first of x_
  double held_back_ = 0;
  std::vector<Pair> pairs_, pairs_before_;
  std::vector<Share> shares_, shares_before_;
  std::vector<Rub> rubs_;
  std::vector<RubShare> rub_shares_;
  ColourOrder pair_order_, rub_order_;
};

}  // namespace pliant::pbd
