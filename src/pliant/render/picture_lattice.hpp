#pragma once

#include <vector>

#include "pliant/render/picture_light.hpp"
#include "pliant/render/picture_visible.hpp"

namespace pliant {

/// Light as it falls on what is seen at every fourth pixel. Between these it changes little, but where a shadow of the
/// lamp begins or another surface does: there, and only there, pixels ask for light of their own.
class LightLattice {
 public:
  LightLattice(const PictureScene& scene, const VisibleImage& image, const PictureLight& light);

  /// What a point receives, as far as the lattice knows.
  struct Received {
    float lamp_diffuse = 0, lamp = 0, sky_diffuse = 0;
    bool knows_lamp = false, knows_sky = false;
  };
  /// Of the ground, and of a point on a piece, seen in a pixel.
  Received on_ground(Index column, Index row) const;
  Received on_surface(Index column, Index row, const VisibleImage::Point& point, Index surface) const;

 private:
  static constexpr Index kSpacing = 4;                 // pixels
  static constexpr Index kGround = -1, kNothing = -2;  // in place of the number of a surface

  struct Node {
    Vec3 position, normal;
    Index surface = kNothing;
    float lamp_diffuse = 0, lamp = 0, sky_diffuse = 0;
  };
  void fill(const Range& rows, const Range& columns, const PictureLight& light);
  template <class Suits>
  Received between(Index column, Index row, Suits&& suits) const;
  std::size_t index(Index column, Index row) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column);
  }

  const VisibleImage& image_;
  Index columns_, rows_;
  std::vector<Node> nodes_;
};

}  // namespace pliant
