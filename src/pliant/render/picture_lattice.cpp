#include "pliant/render/picture_lattice.hpp"

#include <algorithm>
#include <cmath>

#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

constexpr Index kBlock = 24;              // nodes along each side of what asks for light together
constexpr double kAlike = 0.95;           // cosine between normals of what shares its light
constexpr double kFlat = 0.25;            // how far from the plane of a point another may lie, by their distance
constexpr double kEnough = 0.65;          // weight of the nodes that suit a point, of the four around it
constexpr float kSameVisibility = 0.03F;  // of the lamp, at nodes between which no shadow begins

}  // namespace

LightLattice::LightLattice(const PictureScene& scene, const VisibleImage& image, const PictureLight& light)
    : image_(image),
      columns_((image.width() / image.per_side() + kSpacing - 1) / kSpacing + 1),
      rows_((image.height() / image.per_side() + kSpacing - 1) / kSpacing + 1),
      nodes_(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_)) {
  if (scene.pieces.empty()) return;
  for_chunks(rows_, kBlock, [&](Index begin, Index end) {
    for (Index left = 0; left < columns_; left += kBlock)
      fill({begin, end}, {left, std::min(left + kBlock, columns_)}, light);
  });
}

void LightLattice::fill(const Range& rows, const Range& columns, const PictureLight& light) {
  LitPoints lamp, sky;
  std::vector<std::size_t> asked;
  for (Index row = rows.begin; row < rows.end; ++row)
    for (Index column = columns.begin; column < columns.end; ++column) {
      const Index i = std::min(column * kSpacing * image_.per_side() + image_.per_side() / 2, image_.width() - 1);
      const Index j = std::min(row * kSpacing * image_.per_side() + image_.per_side() / 2, image_.height() - 1);
      Node& node = nodes_[index(column, row)];
      Vec3 true_normal;
      switch (image_.seen(i, j)) {
        case Seen::background:
          continue;
        case Seen::ground:
          node.surface = kGround;
          node.position = image_.ground_point(i + 0.5, j + 0.5);
          node.normal = true_normal = image_.vertical();
          break;
        case Seen::surface: {
          const VisibleImage::Point point = image_.surface_point(image_.id(i, j), i + 0.5, j + 0.5);
          node.surface = image_.piece(image_.id(i, j)).surface;
          node.position = point.position;
          node.normal = point.normal;
          true_normal = point.true_normal;
        }
      }
      asked.push_back(index(column, row));
      light.ask(node.position, node.normal, true_normal, lamp);
    }
  sky = lamp;
  light.receive_lamp(lamp);
  light.receive_sky(sky);
  for (std::size_t k = 0; k < asked.size(); ++k) {
    Node& node = nodes_[asked[k]];
    node.lamp_diffuse = lamp.diffuse[k];
    node.lamp = lamp.lamp[k];
    node.sky_diffuse = sky.diffuse[k];
  }
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
  if (!(total > static_cast<float>(kEnough))) return {};
  received.lamp_diffuse /= total;
  received.lamp /= total;
  received.sky_diffuse /= total;
  received.knows_sky = true;
  received.knows_lamp = most - least < kSameVisibility;
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
