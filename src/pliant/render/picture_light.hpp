#pragma once

#include <vector>

#include "pliant/render/picture_raster.hpp"
#include "pliant/render/picture_scene.hpp"

namespace pliant {

/// The light of a picture: a lamp of some width, a sky over the whole upper half, and a little light back from the
/// ground.
///
/// Lamp and sky are each replaced by many far point lights, each with a depth image of the scene as it sees it: what it
/// does not see lies in its shadow. A sample of the picture asks only one share of the lights, the samples of one pixel
/// ask different shares, so that a pixel as a whole has asked all of them: soft shadows without noise, at the price of
/// a few look-ups a sample.
class PictureLight {
 public:
  enum class Shadows { none, all };

  /// `up`, `right`, `back` are unit vectors: the vertical, to the viewer's right, and horizontally towards the viewer.
  /// Light is divided into `shares`.
  PictureLight(const PictureScene& scene, const Vec3& up, const Vec3& right, const Vec3& back, int shares,
               Shadows shadows);

  struct Received {
    double diffuse = 0;  ///< irradiance over pi: what a white matt surface shows
    double lamp = 0;     ///< how much of the lamp is visible, 0 to 1
  };
  /// At a point with unit shading normal `normal`; `offset_normal` is the true normal of the surface.
  Received receive(const Vec3& point, const Vec3& normal, const Vec3& offset_normal, int share) const;
  /// The light on a horizontal plane with nothing in the way, for the same share.
  double open_ground(int share) const { return open_ground_[static_cast<std::size_t>(share)]; }
  const Vec3& lamp_direction() const { return lamp_direction_; }

 private:
  /// One far point light. Its image shows the scene along `direction`; lengths are in samples of the image.
  struct Source {
    Vec3 direction;  ///< towards the light
    Vec3 u, v;       ///< axes of its image
    NearnessImage image;
  };
  /// Sources with images of one resolution.
  struct Sources {
    double texel = 1;  ///< size of a sample of the images, m
    std::vector<Source> list;
  };

  Sources make_sources(const std::vector<Vec3>& directions, int resolution) const;
  void draw_shadows(const PictureScene& scene, double texel, Source& source) const;
  /// `x` is the point relative to the centre of the scene, in samples, moved off its surface.
  double visible(const Source& source, const Vec3& x) const;

  Vec3 up_;
  Vec3 centre_;
  double radius_;
  int shares_;
  Shadows shadows_;
  Vec3 lamp_direction_;
  Sources lamp_;
  Sources sky_;
  std::vector<double> open_ground_;
};

}  // namespace pliant
