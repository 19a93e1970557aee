#include <algorithm>
#include <cctype>
#include <cmath>

#include "pliant/io/animation/append.hpp"
#include "pliant/io/animation/formats.hpp"

namespace pliant {

namespace {

/// `first`: the numbers of its first vertex and of its first place in a texture.
void append_faces(std::string& text, const AnimatedSurface& surface, std::array<Index, 2> first) {
  for (std::size_t v = 0; v < surface.texture.size(); v += 2)
    append(text, "vt {} {}\n", surface.texture[v], surface.texture[v + 1]);
  for (const Triangle& t : surface.triangles)
    if (surface.texture.empty())
      append(text, "f {} {} {}\n", first[0] + t[0], first[0] + t[1], first[0] + t[2]);
    else
      append(text, "f {}/{} {}/{} {}/{}\n", first[0] + t[0], first[1] + t[0], first[0] + t[1], first[1] + t[1],
             first[0] + t[2], first[1] + t[2]);
}

std::uint8_t byte_of(double c) { return static_cast<std::uint8_t>(std::lround(255 * std::clamp(c, 0.0, 1.0))); }

}  // namespace

std::string file_stem(const std::string& name) {
  std::string stem = name;
  for (char& c : stem)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_') c = '_';
  return stem.empty() ? "unnamed" : stem;
}

std::string write_obj_surface(const AnimatedSurface& surface, std::size_t frame) {
  std::string text = fmt::format("o {}\n", file_stem(surface.name));
  const std::vector<float>& x = surface.positions_at(frame);
  for (std::size_t i = 0; i < x.size(); i += 3) append(text, "v {} {} {}\n", x[i], x[i + 1], x[i + 2]);
  append_faces(text, surface, {1, 1});
  return text;
}

std::string write_obj_frame(const Animation& animation, std::size_t frame, const std::string& library) {
  std::string text = fmt::format("# t = {} s\nmtllib {}\n", animation.times[frame], library);
  std::array<Index, 2> first = {1, 1};
  for (const AnimatedSurface& surface : animation.surfaces) {
    append(text, "o {0}\nusemtl {0}\n", file_stem(surface.name));
    const std::vector<float>& x = surface.positions_at(frame);
    for (std::size_t v = 0; v < surface.vertices(); ++v) {
      append(text, "v {} {} {}", x[3 * v], x[3 * v + 1], x[3 * v + 2]);
      if (!surface.values.empty()) {
        const Colour c = animation.colour_of(surface, frame, v);
        append(text, " {:.4f} {:.4f} {:.4f}", c.red, c.green, c.blue);
      }
      text += '\n';
    }
    append_faces(text, surface, first);
    first[0] += static_cast<Index>(surface.vertices());
    first[1] += static_cast<Index>(surface.texture.size() / 2);
  }
  return text;
}

std::string write_mtl(const Animation& animation) {
  std::string text;
  for (const AnimatedSurface& surface : animation.surfaces) {
    const Colour c = surface.values.empty() ? surface.colour : Colour{1, 1, 1};
    append(text, "newmtl {}\nKd {:.4f} {:.4f} {:.4f}\nd {}\n\n", file_stem(surface.name), c.red, c.green, c.blue,
           surface.is_collider ? 0.35 : 1.0);
  }
  return text;
}

std::string write_ply_frame(const Animation& animation, std::size_t frame) {
  std::size_t vertices = 0, faces = 0;
  for (const AnimatedSurface& surface : animation.surfaces) {
    vertices += surface.vertices();
    faces += surface.triangles.size();
  }
  std::string file = "ply\nformat binary_little_endian 1.0\n";
  append(file, "comment t = {} s\n", animation.times[frame]);
  for (std::size_t s = 0; s < animation.surfaces.size(); ++s)
    append(file, "comment surface {} {}\n", s, file_stem(animation.surfaces[s].name));
  append(file,
         "element vertex {}\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\nproperty uchar "
         "green\nproperty uchar blue\nproperty int surface\nelement face {}\nproperty list uchar int "
         "vertex_indices\nend_header\n",
         vertices, faces);
  for (std::size_t s = 0; s < animation.surfaces.size(); ++s) {
    const AnimatedSurface& surface = animation.surfaces[s];
    const std::vector<float>& x = surface.positions_at(frame);
    for (std::size_t v = 0; v < surface.vertices(); ++v) {
      for (std::size_t k = 0; k < 3; ++k) append_bytes<std::endian::little>(file, x[3 * v + k]);
      const Colour c = animation.colour_of(surface, frame, v);
      for (double channel : {c.red, c.green, c.blue}) append_bytes<std::endian::little>(file, byte_of(channel));
      append_bytes<std::endian::little>(file, static_cast<std::int32_t>(s));
    }
  }
  Index first = 0;
  for (const AnimatedSurface& surface : animation.surfaces) {
    for (const Triangle& t : surface.triangles) {
      append_bytes<std::endian::little>(file, std::uint8_t{3});
      for (Index i : t) append_bytes<std::endian::little>(file, static_cast<std::int32_t>(first + i));
    }
    first += static_cast<Index>(surface.vertices());
  }
  return file;
}

}  // namespace pliant
