#pragma once

#include <vector>

#include "pliant/math/types.hpp"

namespace pliant {

/// Points that ask for light, as arrays.
struct LitPoints {
  std::vector<float> position[3];  ///< relative to the centre of the scene, m
  std::vector<float> normal[3];    ///< unit, for shading
  std::vector<float> offset[3];    ///< unit, of the surface
  std::vector<float> diffuse;      ///< irradiance over pi: what a white matt surface shows
  std::vector<float> lamp;         ///< how much of the lamp is visible, 0 to 1

  std::size_t size() const { return diffuse.size(); }
  void resize(std::size_t count);
};

/// How a far point light sees the scene.
struct LightView {
  float direction[3];  ///< towards the light
  float u[3], v[3];    ///< axes of its image
};

/// Adds the light of one source to all points: `weight` times the cosine to diffuse, and `lamp_weight` to lamp, where
/// the image of nearness, `size` samples along each side and centred on the scene, has nothing in the way; null: there
/// never is. `per_texel` is samples a metre. The number of points is a multiple of kLitTogether.
constexpr std::size_t kLitTogether = 8;
void add_light(const LightView& view, const float* image, int size, float per_texel, float weight, float lamp_weight,
               LitPoints& points);

}  // namespace pliant
