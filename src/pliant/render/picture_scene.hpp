#pragma once

#include <span>
#include <vector>

#include "pliant/render/picture.hpp"

namespace pliant {

/// All surfaces of a picture in one list, ready to be drawn: triangles that are finite and have an area.
struct PictureScene {
  struct Piece {
    Triangle corners;             ///< into positions
    std::array<Vec3, 3> normals;  ///< unit, at the corners, smooth across all edges but the creases
    Vec3 normal;                  ///< unit
    Index surface;
    std::uint8_t edge_bits;
    bool throws_shadow;
    bool closed;  ///< part of a closed surface, of which a light sees the side alone that faces it
  };

  PictureScene(std::span<const PictureSurface> surfaces, double crease_degrees);
  PictureScene(const PictureScene&) = delete;
  PictureScene& operator=(const PictureScene&) = delete;

  const Vec3& corner(const Piece& piece, std::size_t k) const {
    return positions[static_cast<std::size_t>(piece.corners[k])];
  }
  /// The colour of the point with these barycentric coordinates in the piece.
  LinearColour colour(const Piece& piece, const std::array<double, 3>& barycentric) const;

  std::vector<Vec3> positions;
  std::vector<double> values;  ///< colour values; 0 where the surface has none
  std::vector<Piece> pieces;
  std::vector<Piece> glass;                             ///< pieces of surfaces of glass, with one normal each
  std::vector<std::span<const LinearColour>> palettes;  ///< for each surface, its colours from value 0 to 1
  Vec3 centre = Vec3::Zero();                           ///< of a ball around all pieces that throw shadows
  double radius = 0;

 private:
  std::vector<LinearColour> plain_;  ///< colours of surfaces without values
};

}  // namespace pliant
