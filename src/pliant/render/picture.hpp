#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pliant/math/types.hpp"
#include "pliant/render/picture_colour.hpp"

// Pictures of deformed bodies without another program: a z-buffer, soft light from a sky and a lamp with real shadows,
// a ground that shows nothing but shadows. Meant for a person to see what a run did, in a tenth of a second a picture;
// same input, same bytes.

namespace pliant {

/// 8-bit sRGB, three bytes a pixel, rows from the top.
struct Picture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;
};

struct Camera {
  Vec3 eye = Vec3(0, -3, 0);
  Vec3 target = Vec3::Zero();
  Vec3 up = Vec3(0, 0, 1);
  double field_of_view = 30;  ///< of the picture's height, degrees
};

struct CameraFit {
  Vec3 view = Vec3(-0.55, 0.75, -0.35);  ///< direction of sight, any length
  Vec3 up = Vec3(0, 0, 1);
  double field_of_view = 25;  ///< of the picture's height, degrees
  double aspect = 16.0 / 9;   ///< width over height
  double margin = 0.08;       ///< kept free on every side, as a fraction of the picture
};

/// The camera closest to the points, looking along `fit.view`, that sees all of them. Points that are not finite are
/// ignored. For a film, pass the points of all frames at once.
Camera fit_camera(std::span<const Vec3> points, const CameraFit& fit = {});

/// One thing to be seen. Both sides of a triangle are visible; triangles with a corner that is not finite are left out.
struct PictureSurface {
  std::span<const Vec3> positions = {};
  std::span<const Triangle> triangles = {};
  /// One value in [0, 1] for each position, shown through `map`; when empty, the surface has the colour `colour`.
  std::span<const double> colour_values = {};
  ColourMap map = ColourMap::lagoon;
  Colour colour = {0.36, 0.55, 0.78};
  /// For each triangle, bit k says that the edge from corner k to the next is a mesh edge; when empty, all are. Curved
  /// elements drawn as several triangles use it to hide the inner edges.
  std::span<const std::uint8_t> edge_bits = {};
  /// A thin shell of smoked glass, for what should be seen without hiding anything: dims what is behind it, more where
  /// it is seen at an angle, and throws no shadow. Has neither colour nor edges.
  bool glass = false;
  /// Walls of a room stand between the lamp and what is in it, and are not meant to darken it.
  bool throws_shadow = true;
};

struct PictureOptions {
  int width = 960;
  int height = 540;
  int supersampling = 3;                               ///< samples along each side of a pixel: 1, 2 or 3
  double crease = 35;                                  ///< degrees; edges sharper than this stay sharp in the shading
  bool ground = true;                                  ///< shows the shadows on the plane below
  bool shadows = true;                                 ///< false: no light is ever blocked; faster
  std::optional<double> ground_height = std::nullopt;  ///< along the camera's up; by default the lowest point
  double edge_width = 0;                               ///< of mesh edges, pixels; 0: none
  Colour edge_colour = {0.08, 0.1, 0.14};
  Colour background_top = {0.90, 0.925, 0.955};
  Colour background_bottom = {0.985, 0.985, 0.98};
};

/// Throws InputError when the size of the picture or the supersampling is out of range.
Picture render(std::span<const PictureSurface> surfaces, const Camera& camera, const PictureOptions& options = {});

/// A film strip or a table of pictures, `columns` in a row, `gap` pixels apart and around, on `background`. Cells are
/// as large as the largest picture, smaller ones are centred.
Picture side_by_side(std::span<const Picture> pictures, int columns, int gap, Colour background = {1, 1, 1});

/// The bytes of a PNG file.
std::string encode_png(const Picture& picture);
/// Writes a PNG file, whole or not at all; throws std::system_error when it cannot.
void write_png(const std::filesystem::path& path, const Picture& picture);

}  // namespace pliant
