#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pliant/mesh/triangle_mesh.hpp"
#include "pliant/view/surface.hpp"

namespace pliant::view {

// The binary messages of docs/viewer-protocol.md, little-endian.

enum class MessageKind : std::uint8_t { topology = 1, obstacles = 2, frame = 3, state = 4, skin = 5 };

/// What vertices are coloured by.
enum class Colour : std::uint8_t { none, stress, stretch, speed, error, refreshed };
inline constexpr int kColours = 6;

struct ColourInfo {
  std::string_view name, unit, summary;
};
/// Not for `none`.
ColourInfo info(Colour colour);
std::optional<Colour> colour_by_name(std::string_view name);

/// A view at an instant, as it is drawn.
struct Drawing {
  double time = 0;              ///< s
  std::int64_t step = 0;        ///< steps taken, or the number of a film's frame
  std::vector<Vec3> positions;  ///< of the surface's vertices, and behind them of the skin's
  std::vector<double> values;   ///< of the vertices, to be coloured; empty: none
  double low = 0, high = 1;     ///< what the ends of the colours stand for
};

struct FrameHeader {
  std::uint8_t view = 0, views = 1;
  Colour colour = Colour::none;
  std::uint32_t frame = 0, revision = 0, stamp = 0;
};

std::string encode_topology(const Surface& surface, std::uint32_t revision);
std::string encode_skin(const Skin& skin, std::uint32_t revision);
std::string encode_obstacles(const std::vector<TriangleMesh>& obstacles);
/// Positions that are not finite are put into the lower corner of the box.
std::string encode_frame(const FrameHeader& header, const Drawing& drawing);

}  // namespace pliant::view
