#pragma once

#include <vector>

#include "pliant/render/picture_light_kernels.hpp"
#include "pliant/render/picture_raster.hpp"
#include "pliant/render/picture_scene.hpp"

namespace pliant {

/// The light of a picture: a lamp of some width, a sky over the whole upper half, and a little light back from the
/// ground.
///
/// Lamp and sky are each replaced by many far point lights, each with a depth image of the scene as it sees it: what it
/// does not see lies in its shadow. Points ask for light many at a time, one light after the other: the part of the
/// depth image that neighbours need stays in the cache, and eight points are looked up together.
class PictureLight {
 public:
  enum class Shadows { none, all };

  /// `up`, `right`, `back` are unit vectors: the vertical, to the viewer's right, and horizontally towards the viewer.
  /// Shadows are as sharp as a picture `width` pixels wide can show.
  PictureLight(const PictureScene& scene, const Vec3& up, const Vec3& right, const Vec3& back, int width,
               Shadows shadows);

  /// Adds a point with unit shading normal `normal`; `offset_normal` is the true normal of the surface.
  void ask(const Vec3& point, const Vec3& normal, const Vec3& offset_normal, LitPoints& points) const;
  /// Fills in the light that the points receive from the lamp, and from sky and ground. The latter changes little from
  /// one pixel to the next.
  void receive_lamp(LitPoints& points) const { receive(lamp_, 1.0F, points); }
  void receive_sky(LitPoints& points) const;
  /// The light on a horizontal plane with nothing in the way.
  double open_ground() const { return open_ground_; }
  const Vec3& lamp_direction() const { return lamp_direction_; }

 private:
  /// Point lights with depth images of one resolution, which show the scene along their direction.
  struct Sources {
    double texel = 1;  ///< size of a sample of the images, m
    float weight = 1;  ///< of one, in what a surface that faces it shows
    std::vector<LightView> views;
    std::vector<NearnessImage> images;  ///< none without shadows
  };

  Sources make_sources(const std::vector<Vec3>& directions, int resolution, double strength) const;
  static void receive(const Sources& sources, float lamp_share, LitPoints& points);
  void draw_shadows(const PictureScene& scene, const Sources& sources, const LightView& view,
                    NearnessImage& image) const;

  Vec3 up_;
  Vec3 centre_;
  double radius_;
  Shadows shadows_;
  Vec3 lamp_direction_;
  Sources lamp_;
  Sources sky_;
  double open_ground_ = 0;
};

}  // namespace pliant
