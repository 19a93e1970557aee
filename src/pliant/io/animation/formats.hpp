#pragma once

#include <string>
#include <vector>

#include "pliant/io/animation/animation.hpp"

namespace pliant {

// The content of files in other programs' formats. Names are made fit for the format where it takes fewer characters.

/// glTF 2.0, binary (.glb): a mesh per surface. What moves has a morph target for each frame but the first, and one
/// animation that goes from each to the next; colours by a field change with them. Colliders are of smoked glass.
std::string write_glb(const Animation& animation);

/// USD as text (.usda): a Mesh per surface with samples of its points, and of displayColor where there is a field, at
/// time codes that count frames.
std::string write_usda(const Animation& animation);

/// Lightwave's MDD (big-endian, with times) and 3ds Max's PC2 (little-endian, frames alone): positions of all vertices
/// in all frames, for a mesh with as many vertices in the same order.
std::string write_mdd(const AnimatedSurface& surface, const std::vector<double>& times);
std::string write_pc2(const AnimatedSurface& surface, std::size_t frames);

/// One frame: all surfaces in one OBJ, an object each, with colours behind the coordinates where there is a field; and
/// the library of materials `library` that it names.
std::string write_obj_frame(const Animation& animation, std::size_t frame, const std::string& library);
std::string write_mtl(const Animation& animation);
/// One surface alone, without colours.
std::string write_obj_surface(const AnimatedSurface& surface, std::size_t frame);

/// One frame: all surfaces in one binary PLY, with the colour of every vertex and the number of its surface.
std::string write_ply_frame(const Animation& animation, std::size_t frame);

/// A Python script for Blender that loads every surface of the folder with its cache.
std::string blender_script(const Animation& animation, const std::vector<std::string>& stems,
                           const std::string& format);

/// Letters, digits, '-' and '_'; others become '_'.
std::string file_stem(const std::string& name);

}  // namespace pliant
