#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pliant/io/recorded_run.hpp"
#include "pliant/math/types.hpp"
#include "pliant/render/picture_colour.hpp"

namespace pliant {

/// A body or collider over time: the same triangles in every frame, in single precision, as other programs take it.
struct AnimatedSurface {
  std::string name;  ///< unlike that of any other surface
  bool is_collider = false;
  bool is_rigid = false;
  Colour colour;                    ///< of its material
  std::vector<Triangle> triangles;  ///< over its own vertices, counter-clockwise seen from outside
  /// x, y, z of each vertex, m: for each frame, or once for all where it never moves.
  std::vector<std::vector<float>> positions;
  /// The field's value at each vertex, for each frame; empty where it is not coloured.
  std::vector<std::vector<float>> values;
  /// u, v of each vertex in a texture; empty where it has none.
  std::vector<float> texture = {};

  std::size_t vertices() const { return positions.front().size() / 3; }
  const std::vector<float>& positions_at(std::size_t frame) const {
    return positions.size() == 1 ? positions.front() : positions[frame];
  }
};

/// What a run looks like over time: what every format of export and every picture is made from.
struct Animation {
  std::string name;
  Vec3 up = Vec3::UnitY();
  std::vector<double> times;  ///< s, of the frames
  std::vector<AnimatedSurface> surfaces;
  std::string field;         ///< what the colours show; empty: nothing
  double low = 0, high = 1;  ///< the field's values at the ends of the colour map
  bool is_clipped = false;   ///< whether larger values occur, which have the last colour
  ColourMap map = ColourMap::lagoon;

  std::size_t frames() const { return times.size(); }
  /// Frames for each second; 24 where there is one frame alone.
  double rate() const;
  /// sRGB, of one vertex in one frame.
  Colour colour_of(const AnimatedSurface& surface, std::size_t frame, std::size_t vertex) const;

  /// Fits low and high to the values. Where a hundredth of them, at a corner or in an impact, leaves the rest but a
  /// part of the colours, these are clipped. Stretch begins at 1 and goes to 1.02 at least: a body that hardly deforms
  /// is not painted as if it did.
  void fit_range();
  /// Takes the colours of a field of strains from what is rigid and has none: it gets a plain one.
  void uncolour_rigid();
};

/// What of the elements is shown: the triangles on the outside, or every side of every element, for looking inside.
enum class Faces { outside, all };

struct AnimationOptions {
  std::int64_t every = 1;  ///< takes every n-th frame of the run
  Faces faces = Faces::outside;
  std::string colour = {};   ///< a field of the frames; empty: a colour per body
  bool needs_colour = true;  ///< false: where the frames were written without the field, a colour per body will do
  std::optional<std::array<double, 2>> range = std::nullopt;      ///< of the field; by default what occurs
  std::optional<std::vector<std::size_t>> frames = std::nullopt;  ///< these, in place of every n-th
  bool colliders = true;
  bool springs = false;  ///< as coils, for pictures
  bool visual =
      false;  ///< the visual meshes of bodies that have one, in place of these, without the colours of a field
};

/// Reads a run's frames. Curved elements become as many flat triangles as their order squared on each side. A body that
/// is cut on the way has the triangles of its end throughout: where it is whole, the two sides of the cut coincide.
/// Throws InputError for a field that the frames do not have, naming those they have.
Animation read_animation(const RecordedRun& run, const AnimationOptions& options = {});

/// The colour of the n-th body, distinct from its neighbours'.
Colour body_colour(std::size_t n);
inline constexpr Colour kColliderColour = {0.72, 0.74, 0.77}, kRigidColour = {0.87, 0.83, 0.75};

/// What is written beside a value of this field ("von Mises stress, Pa").
std::string field_label(const std::string& field);

}  // namespace pliant
