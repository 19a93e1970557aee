#pragma once

#include <span>
#include <vector>

#include "pliant/math/types.hpp"

namespace pliant {

/// A triangle on an image plane, in units of samples (sample (i, j) lies at (i + 0.5, j + 0.5)), with a nearness that
/// is a linear function of the position: at (x, y) it is slope_x x + slope_y y + offset. The inverse of the depth has
/// this property in a perspective view, the negative depth in a parallel one.
struct FlatTriangle {
  std::array<double, 3> x;
  std::array<double, 3> y;
  double slope_x = 0;
  double slope_y = 0;
  double offset = 0;
  Index id = 0;
  float depth = 0;  ///< optical, of glass
};

/// For each sample the greatest nearness met so far, and (when `ids` is not empty) the triangle it came from. The image
/// is a window: it has the samples of `width` columns from `left` on and of `height` rows from `top` on.
struct NearnessImage {
  NearnessImage() = default;
  NearnessImage(int columns, int rows, float background);

  int width = 0;
  int height = 0;
  int left = 0;
  int top = 0;
  std::vector<float> nearness;
  std::vector<Index> ids;  ///< -1: none
};

/// Draws the rows [first_row, end_row). A sample on an edge belongs to both triangles that share it, so that no gap
/// opens between neighbours; of equal nearness the first drawn wins.
void draw(const FlatTriangle& triangle, int first_row, int end_row, NearnessImage& image);

/// Adds the optical depth of a triangle to the samples of `depths` at which it is nearer than `image`.
void add_depth(const FlatTriangle& triangle, const NearnessImage& image, std::vector<float>& depths);

/// Triangles by the band of `rows` rows each that they may be seen in, in the order given.
class TriangleBands {
 public:
  TriangleBands() = default;
  TriangleBands(const std::vector<FlatTriangle>& triangles, int rows, int height);
  std::span<const Index> in(Index band) const {
    const auto b = static_cast<std::size_t>(band);
    return {members_.data() + begin_[b], members_.data() + begin_[b + 1]};
  }

 private:
  std::vector<std::size_t> begin_;
  std::vector<Index> members_;
};

/// Draws all triangles, in bands of rows that run in parallel, each in the order given.
void draw_all(const std::vector<FlatTriangle>& triangles, NearnessImage& image);

}  // namespace pliant
