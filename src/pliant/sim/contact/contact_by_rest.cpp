// What contact takes from the shape at rest, for derivatives: areas that pairs stand for, lengths of edges in the
// mollifier, and reaches of pairs within a body. A pair's force is a function of these three numbers, and they of the
// positions at rest; the first part is by differences over the pair alone, the second in closed form but for reaches.
#include <algorithm>
#include <cmath>
#include <functional>

#include <Eigen/Geometry>

#include "pliant/sim/contact/contact_step.hpp"

namespace pliant {

namespace {

constexpr double kShare = 1e-4;  ///< of a number, in differences

/// Derivatives of some sum by what is measured at rest.
struct ByMeasures {
  std::vector<double> point_area, edge_area, edge_length2;
};

std::size_t edge_number(const ContactSurface& surface, Index a, Index b) {
  const Edge edge = {std::min(a, b), std::max(a, b)};
  return static_cast<std::size_t>(std::lower_bound(surface.edges.begin(), surface.edges.end(), edge) -
                                  surface.edges.begin());
}

/// Spreads the derivatives by a pair's area and threshold over those by what they were made of, as ContactSearch makes
/// them.
void add_pair(const ContactModel& model, const ContactPair& pair, double by_area, double by_threshold, ByMeasures& by) {
  const auto& corners = pair.corners;
  if (pair.plane >= 0) {
    by.point_area[at(corners[0])] += by_area;
    return;
  }
  if (pair.kind == PairKind::point_triangle) {
    if (model.is_obstacle(corners[0])) {
      double triangle = 0;
      for (std::size_t k = 1; k < 4; ++k) triangle += model.area_at(corners[k]) / 3;
      if (triangle < model.point_area[at(corners[0])])
        for (std::size_t k = 1; k < 4; ++k) by.point_area[at(corners[k])] += by_area / 12;
      return;
    }
    by.point_area[at(corners[0])] += by_area / 4;
    return;
  }
  const std::size_t first = edge_number(*model.surface, corners[0], corners[1]),
                    second = edge_number(*model.surface, corners[2], corners[3]);
  const bool first_is_ours = !model.is_obstacle(corners[0]), second_is_ours = !model.is_obstacle(corners[2]);
  const double share = first_is_ours && second_is_ours ? by_area / 4 : by_area / 2;
  if (first_is_ours) by.edge_area[first] += share;
  if (second_is_ours) by.edge_area[second] += share;
  by.edge_length2[first] += by_threshold * pair.threshold / model.edge_length2[first];
  by.edge_length2[second] += by_threshold * pair.threshold / model.edge_length2[second];
}

/// To the positions at rest: areas are thirds of triangles. Loose edges and points have areas by dhat and their length.
void add_positions(const ContactModel& model, const ByMeasures& by, VecX& g) {
  const ContactSurface& s = *model.surface;
  std::vector<std::uint8_t> has_triangle(s.edges.size(), 0);
  for (const Triangle& t : s.triangles) {
    double weight = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t e = edge_number(s, t[k], t[(k + 1) % 3]);
      has_triangle[e] = 1;
      weight += by.point_area[at(t[k])] + by.edge_area[e];
    }
    if (weight == 0) continue;
    const Vec3 a = node(model.rest, t[0]), b = node(model.rest, t[1]), c = node(model.rest, t[2]);
    const Vec3 normal = (b - a).cross(c - a).normalized();
    node(g, t[0]) += weight / 6 * (b - c).cross(normal);
    node(g, t[1]) += weight / 6 * (c - a).cross(normal);
    node(g, t[2]) += weight / 6 * (a - b).cross(normal);
  }
  for (std::size_t e = 0; e < s.edges.size(); ++e) {
    const auto [a, b] = s.edges[e];
    double by_length2 = by.edge_length2[e];
    if (!has_triangle[e])
      by_length2 += (by.edge_area[e] + (by.point_area[at(a)] + by.point_area[at(b)]) / 2) * model.options.dhat /
                    (2 * std::sqrt(model.edge_length2[e]));
    if (by_length2 == 0) continue;
    const Vec3 way = 2 * by_length2 * (node(model.rest, b) - node(model.rest, a));
    node(g, b) += way;
    node(g, a) -= way;
  }
}

double difference(double& number, const std::function<double()>& work) {
  const double kept = number, step = kShare * kept;
  if (step == 0) return 0;
  number = kept + step;
  const double above = number, more = work();
  number = kept - step;
  const double change = (more - work()) / (above - number);
  number = kept;
  return change;
}

}  // namespace

void ContactStep::add_by_rest(const VecX& x, const VecX& lambda, VecX& g) {
  const auto positions = at(model_->positions());
  ByMeasures by{std::vector<double>(positions, 0.0), std::vector<double>(model_->edge_area.size(), 0.0),
                std::vector<double>(model_->edge_area.size(), 0.0)};
  VecX all, multipliers, found = VecX::Zero(3 * Eigen::Index(positions));
  model_->extend(x, all);
  model_->extend(lambda, multipliers);

  const auto add = [&](ContactPair pair, const std::function<double(const ContactPair&)>& work_of) {
    const auto work = [&] { return work_of(pair); };
    add_pair(*model_, pair, difference(pair.area, work), difference(pair.threshold, work), by);
    const double dhat = model_->options.dhat;
    if (pair.plane >= 0 || !(pair.reach < dhat)) return;  // else it is half of the distance at rest
    const double by_reach = difference(pair.reach, work);
    Corners rest;
    for (std::size_t k = 0; k < 4; ++k) rest[k] = node(model_->rest, pair.corners[k]);
    const Closest nearest = closest(pair.kind, rest);
    for (std::size_t k = 0; k < 4; ++k)
      node(found, pair.corners[k]) += by_reach / 2 * nearest.weight[k] / std::sqrt(nearest.d2) * nearest.r;
  };

  place_obstacles(1);
  update(x);
  BarrierEnergy alone(model_);
  alone.set_obstacles(barrier_.obstacles());
  alone.set_stiffness(barrier_.stiffness());
  Vec12 gradient;
  double value = 0;
  for (const ContactPair& pair : near_.pairs)
    add(pair, [&](const ContactPair& changed) {
      alone.set_pairs({changed});
      alone.evaluate(Pose(all), {0, 1}, &value, gradient.data());
      double sum = 0;
      for (std::size_t k = 0; k < 4; ++k)
        if (const Index i = alone.stencils()[0][k]; i >= 0)
          sum += node(multipliers, i).dot(gradient.segment<3>(3 * static_cast<Eigen::Index>(k)));
      return sum;
    });
  if (has_friction()) {
    place_obstacles(0);
    update(x_n_);
    for (const ContactPair& pair : near_.pairs)
      if (friction_of(pair, all_n_, all_n_))
        add(pair, [&](const ContactPair& changed) { return friction_work(changed, all_n_, all, multipliers); });
    place_obstacles(1);
  }
  add_positions(*model_, by, found);
  g += found.head(g.size());
}

}  // namespace pliant
