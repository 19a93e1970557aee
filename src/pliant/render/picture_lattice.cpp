#include "pliant/render/picture_lattice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

constexpr Index kBlock = 24;              // nodes along each side of what asks for light together
constexpr double kAlike = 0.95;           // cosine between normals of what shares its light
constexpr double kFlat = 0.25;            // how far from the plane of a point another may lie, by their distance
constexpr double kEnough = 0.65;          // weight of the nodes that suit a point, of the four around it, for the lamp,
constexpr double kEnoughForSky = 0.2;     // and for the sky, whose light changes less
constexpr double kOpen = 0.995;           // share of the light on open ground that cannot be told from all of it
constexpr double kNearlyParallel = 0.99;  // cosine between normals of nodes that take the sky's light from others
constexpr float kSameSky = 0.04F;         // how far the light of these others may differ
constexpr float kSameVisibility = 0.03F;  // of the lamp, at nodes between which no shadow begins

}  // namespace

LightLattice::LightLattice(const PictureScene& scene, const VisibleImage& image, const PictureLight& light)
    : image_(image),
      columns_((image.width() / image.per_side() + kSpacing - 1) / kSpacing + 1),
      rows_((image.height() / image.per_side() + kSpacing - 1) / kSpacing + 1),
      nodes_(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_)) {
  open_.assign(nodes_.size(), true);
  if (scene.pieces.empty()) return;
  const NearnessImage seen = image.look_sparsely(kSpacing);
  for_chunks(rows_, kBlock, [&](Index begin, Index end) {
    for (Index left = 0; left < columns_; left += kBlock)
      fill(seen, {begin, end}, {left, std::min(left + kBlock, columns_)}, light);
  });
  for_chunks(rows_, kBlock, [&](Index begin, Index end) { fill_sky({begin, end}, light); });
  find_open(light);
}

void LightLattice::fill(const NearnessImage& seen, const Range& rows, const Range& columns, const PictureLight& light) {
  LitPoints lamp, sky;
  std::vector<std::size_t> asked, asked_sky;
  for (Index row = rows.begin; row < rows.end; ++row)
    for (Index column = columns.begin; column < columns.end; ++column) {
      const double x = image_.sparse_place(column, kSpacing), y = image_.sparse_place(row, kSpacing);
      Node& node = nodes_[index(column, row)];
      const Index id = seen.ids[index(column, row)];
      if (image_.shows_ground(x, y, seen.nearness[index(column, row)])) {
        node.surface = kGround;
        node.position = image_.ground_point(x, y);
        node.normal = node.true_normal = image_.vertical();
      } else if (id >= 0) {
        const VisibleImage::Point point = image_.surface_point(id, x, y);
        node.surface = image_.piece(id).surface;
        node.position = point.position;
        node.normal = point.normal;
        node.true_normal = point.true_normal;
      } else {
        continue;
      }
      asked.push_back(index(column, row));
      light.ask(node.position, node.normal, node.true_normal, lamp);
      if (row % 2 != 0 || column % 2 != 0) continue;
      asked_sky.push_back(index(column, row));
      light.ask(node.position, node.normal, node.true_normal, sky);
    }
  light.receive_lamp(lamp);
  light.receive_sky(sky);
  for (std::size_t k = 0; k < asked.size(); ++k) {
    nodes_[asked[k]].lamp_diffuse = lamp.diffuse[k];
    nodes_[asked[k]].lamp = lamp.lamp[k];
  }
  for (std::size_t k = 0; k < asked_sky.size(); ++k) nodes_[asked_sky[k]].sky_diffuse = sky.diffuse[k];
}

bool LightLattice::sky_from_neighbours(Index column, Index row) {
  Node& node = nodes_[index(column, row)];
  float sum = 0, least = std::numeric_limits<float>::infinity(), most = 0;
  int count = 0;
  for (Index j = row - row % 2; j <= row + row % 2; j += 2)
    for (Index i = column - column % 2; i <= column + column % 2; i += 2) {
      if (i >= columns_ || j >= rows_) return false;
      const Node& other = nodes_[index(i, j)];
      if (other.surface != node.surface || other.normal.dot(node.normal) < kNearlyParallel) return false;
      sum += other.sky_diffuse;
      least = std::min(least, other.sky_diffuse);
      most = std::max(most, other.sky_diffuse);
      ++count;
    }
  if (most - least > kSameSky) return false;
  node.sky_diffuse = sum / static_cast<float>(count);
  return true;
}

void LightLattice::fill_sky(const Range& rows, const PictureLight& light) {
  LitPoints sky;
  std::vector<std::size_t> asked;
  for (Index row = rows.begin; row < rows.end; ++row)
    for (Index column = 1 - row % 2; column < columns_; column += 2 - row % 2) {
      const Node& node = nodes_[index(column, row)];
      if (node.surface == kNothing || sky_from_neighbours(column, row)) continue;
      asked.push_back(index(column, row));
      light.ask(node.position, node.normal, node.true_normal, sky);
    }
  light.receive_sky(sky);
  for (std::size_t k = 0; k < asked.size(); ++k) nodes_[asked[k]].sky_diffuse = sky.diffuse[k];
}

void LightLattice::find_open(const PictureLight& light) {
  const auto is_lit = [&](Index column, Index row) {
    const Node& node = nodes_[index(std::min(column, columns_ - 1), std::min(row, rows_ - 1))];
    return node.surface == kNothing ||
           (node.surface == kGround &&
            static_cast<double>(node.lamp_diffuse + node.sky_diffuse) > kOpen * light.open_ground());
  };
  for (Index row = 0; row < rows_; ++row)
    for (Index column = 0; column < columns_; ++column)
      open_[index(column, row)] =
          is_lit(column, row) && is_lit(column + 1, row) && is_lit(column, row + 1) && is_lit(column + 1, row + 1);
}

template <class Suits>
LightLattice::Received LightLattice::between(Index column, Index row, Suits&& suits) const {
  const Index left = column / kSpacing, top = row / kSpacing;
  const float x = static_cast<float>(column % kSpacing) / kSpacing, y = static_cast<float>(row % kSpacing) / kSpacing;
  const std::array<float, 4> weights = {(1 - x) * (1 - y), x * (1 - y), (1 - x) * y, x * y};
  Received received;
  float total = 0, least = 2, most = -1;
  for (Index k = 0; k < 4; ++k) {
    const Node& node = nodes_[index(left + k % 2, top + k / 2)];
    const float weight = weights[static_cast<std::size_t>(k)];
    if (!(weight > 0) || !suits(node)) continue;
    total += weight;
    received.lamp_diffuse += weight * node.lamp_diffuse;
    received.lamp += weight * node.lamp;
    received.sky_diffuse += weight * node.sky_diffuse;
    least = std::min(least, node.lamp);
    most = std::max(most, node.lamp);
  }
  if (!(total > static_cast<float>(kEnoughForSky))) return {};
  received.lamp_diffuse /= total;
  received.lamp /= total;
  received.sky_diffuse /= total;
  received.knows_sky = true;
  received.knows_lamp = total > static_cast<float>(kEnough) && most - least < kSameVisibility;
  return received;
}

LightLattice::Received LightLattice::on_ground(Index column, Index row) const {
  return between(column, row, [](const Node& node) { return node.surface == kGround; });
}

LightLattice::Received LightLattice::on_surface(Index column, Index row, const VisibleImage::Point& point,
                                                Index surface) const {
  return between(column, row, [&](const Node& node) {
    if (node.surface != surface || node.normal.dot(point.normal) < kAlike) return false;
    const Vec3 apart = node.position - point.position;
    const double off = apart.dot(point.normal);
    return off * off <= kFlat * kFlat * apart.squaredNorm();
  });
}

}  // namespace pliant
