#pragma once

#include <vector>

#include "pliant/render/picture_light.hpp"
#include "pliant/render/picture_visible.hpp"

namespace pliant {

/// Light as it falls on what is seen at every fourth pixel. Between these it changes little, but where a shadow of the
/// lamp begins or another surface does: there, and only there, pixels ask for light of their own.
class LightLattice {
 public:
  static constexpr Index kSpacing = 4;  ///< pixels

  LightLattice(const PictureScene& scene, const VisibleImage& image, const PictureLight& light);

  /// What a point receives, as far as the lattice knows.
  struct Received {
    float lamp_diffuse = 0, lamp = 0, sky_diffuse = 0;
    bool knows_lamp = false, knows_sky = false;
  };
  /// Whether nothing darkens the ground in the pixels between four nodes, where these see it.
  bool is_open(Index column, Index row) const { return open_[index(column / kSpacing, row / kSpacing)]; }
  /// Of the ground, and of a point on a piece, seen in a pixel.
  Received on_ground(Index column, Index row) const;
  Received on_surface(Index column, Index row, const VisibleImage::Point& point, Index surface) const;

 private:
  static constexpr Index kGround = -1, kNothing = -2;  // in place of the number of a surface

  struct Node {
    Vec3 position, normal;
    Index surface = kNothing;
    Vec3 true_normal;
    float lamp_diffuse = 0, lamp = 0, sky_diffuse = 0;
  };
  /// Places nodes, and finds the light of the lamp on each, and that of the sky on every other in both directions.
  void fill(const NearnessImage& seen, const Range& rows, const Range& columns, const PictureLight& light);
  /// Finds the light of the sky on the nodes between, by their neighbours where these agree.
  void fill_sky(const Range& rows, const PictureLight& light);
  bool sky_from_neighbours(Index column, Index row);
  void find_open(const PictureLight& light);
  template <class Suits>
  Received between(Index column, Index row, Suits&& suits) const;
  std::size_t index(Index column, Index row) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column);
  }

  const VisibleImage& image_;
  Index columns_, rows_;
  std::vector<Node> nodes_;
  std::vector<bool> open_;  ///< for each node, of the pixels to its lower right
};

}  // namespace pliant
