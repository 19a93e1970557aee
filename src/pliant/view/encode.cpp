#include "pliant/view/encode.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace pliant::view {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are sent as the machine has them");

constexpr std::array<ColourInfo, kColours> kInfo = {{{"none", "", ""},
                                                     {"stress", "Pa", "von Mises stress"},
                                                     {"stretch", "", "largest principal stretch"},
                                                     {"speed", "m/s", "speed"},
                                                     {"error", "m", "distance to the same point in the other view"},
                                                     {"refreshed", "", "matrix renewed here in this step"}}};

template <class T>
void put(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_numbers(std::string& bytes, const std::vector<Index>& numbers) {
  for (Index i : numbers) put(bytes, static_cast<std::uint32_t>(i));
}

void put_positions(std::string& bytes, const std::vector<Vec3>& positions) {
  for (const Vec3& p : positions)
    for (int axis = 0; axis < 3; ++axis) put(bytes, static_cast<float>(p[axis]));
}

void put_kind(std::string& bytes, MessageKind kind) {
  put(bytes, static_cast<std::uint8_t>(kind));
  bytes.append(3, '\0');
}

std::uint32_t size32(std::size_t n) { return static_cast<std::uint32_t>(n); }

}  // namespace

ColourInfo info(Colour colour) { return kInfo[static_cast<std::size_t>(colour)]; }

std::optional<Colour> colour_by_name(std::string_view name) {
  for (std::size_t c = 1; c < kInfo.size(); ++c)
    if (kInfo[c].name == name) return static_cast<Colour>(c);
  return std::nullopt;
}

std::string encode_topology(const Surface& surface, std::uint32_t revision) {
  std::string bytes;
  put_kind(bytes, MessageKind::topology);
  put(bytes, revision);
  put(bytes, size32(surface.nodes.size()));
  put(bytes, size32(surface.triangles.size()));
  put(bytes, size32(surface.first_vertex.size() - 1));
  put(bytes, std::uint32_t{0});
  put_numbers(bytes, surface.first_vertex);
  put_numbers(bytes, surface.first_triangle);
  for (const Triangle& t : surface.triangles)
    for (Index v : t) put(bytes, static_cast<std::uint32_t>(v));
  put_numbers(bytes, surface.nodes);
  put_positions(bytes, surface.rest);
  for (Held held : surface.held) put(bytes, static_cast<std::uint8_t>(held));
  return bytes;
}

std::string encode_skin(const Skin& skin, std::uint32_t revision) {
  std::string bytes;
  put_kind(bytes, MessageKind::skin);
  put(bytes, revision);
  put(bytes, size32(skin.rest.size()));
  put(bytes, size32(skin.triangles.size()));
  put(bytes, size32(skin.bodies.size()));
  put(bytes, std::uint32_t{0});
  put_numbers(bytes, skin.bodies);
  put_numbers(bytes, skin.first_vertex);
  put_numbers(bytes, skin.first_triangle);
  for (const Triangle& t : skin.triangles)
    for (Index v : t) put(bytes, static_cast<std::uint32_t>(v));
  put_positions(bytes, skin.rest);
  return bytes;
}

std::string encode_obstacles(const std::vector<TriangleMesh>& obstacles) {
  std::string bytes;
  std::size_t vertices = 0, triangles = 0;
  for (const TriangleMesh& mesh : obstacles) {
    vertices += mesh.vertices.size();
    triangles += mesh.triangles.size();
  }
  put_kind(bytes, MessageKind::obstacles);
  put(bytes, size32(obstacles.size()));
  put(bytes, size32(vertices));
  put(bytes, size32(triangles));
  triangles = 0;
  for (const TriangleMesh& mesh : obstacles) {
    put(bytes, size32(triangles));
    triangles += mesh.triangles.size();
  }
  put(bytes, size32(triangles));
  vertices = 0;
  for (const TriangleMesh& mesh : obstacles) {
    for (const Triangle& t : mesh.triangles)
      for (Index v : t) put(bytes, size32(vertices + static_cast<std::size_t>(v)));
    vertices += mesh.vertices.size();
  }
  for (const TriangleMesh& mesh : obstacles) put_positions(bytes, mesh.vertices);
  return bytes;
}

std::string encode_frame(const FrameHeader& header, const Drawing& drawing) {
  constexpr std::size_t kHeader = 64;
  constexpr double kLevels = 65535;
  const std::size_t n = drawing.positions.size();
  Vec3 low = Vec3::Constant(std::numeric_limits<double>::infinity()), high = -low;
  for (const Vec3& p : drawing.positions) {
    if (!p.allFinite()) continue;
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  if (!low.allFinite() || !high.allFinite()) low = high = Vec3::Zero();
  // The page computes with the corner and the size as floats: so must we, lest the box be a little too small.
  const Eigen::Vector3f corner = low.cast<float>();
  Eigen::Vector3f size = (high - corner.cast<double>()).cast<float>() * (1 + 1e-6F);
  for (int axis = 0; axis < 3; ++axis)
    if (!std::isfinite(size[axis])) size[axis] = std::numeric_limits<float>::max();

  const bool coloured = header.colour != Colour::none && drawing.values.size() == n;
  std::string bytes;
  bytes.reserve(kHeader + 7 * n);
  put(bytes, static_cast<std::uint8_t>(MessageKind::frame));
  put(bytes, header.view);
  put(bytes, header.views);
  put(bytes, coloured ? header.colour : Colour::none);
  put(bytes, header.frame);
  put(bytes, header.revision);
  put(bytes, size32(n));
  put(bytes, drawing.time);
  for (int axis = 0; axis < 3; ++axis) put(bytes, corner[axis]);
  for (int axis = 0; axis < 3; ++axis) put(bytes, size[axis]);
  put(bytes, static_cast<float>(drawing.low));
  put(bytes, static_cast<float>(drawing.high));
  put(bytes, static_cast<std::uint32_t>(drawing.step));
  put(bytes, header.stamp);

  bytes.resize(kHeader + (coloured ? 7 : 6) * n);
  char* out = bytes.data() + kHeader;
  Vec3 scale;
  for (int axis = 0; axis < 3; ++axis) scale[axis] = size[axis] > 0 ? kLevels / static_cast<double>(size[axis]) : 0;
  for (const Vec3& p : drawing.positions)
    for (int axis = 0; axis < 3; ++axis, out += 2) {
      const double level = (p[axis] - static_cast<double>(corner[axis])) * scale[axis] + 0.5;
      const auto q = static_cast<std::uint16_t>(level > 0 ? std::min(level, kLevels) : 0.0);  // also for NaN
      std::memcpy(out, &q, 2);
    }
  if (coloured) {
    const double range = drawing.high - drawing.low;
    for (double value : drawing.values) {
      const double level = range > 0 ? 255 * (value - drawing.low) / range + 0.5 : 0;
      *out++ = static_cast<char>(static_cast<std::uint8_t>(level > 0 ? std::min(level, 255.0) : 0.0));
    }
  }
  return bytes;
}

}  // namespace pliant::view
