#pragma once

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

/// For each sample the greatest nearness met so far, and (when `ids` is not empty) the triangle it came from.
struct NearnessImage {
  NearnessImage(int columns, int rows, float background);

  int width;
  int height;
  std::vector<float> nearness;
  std::vector<Index> ids;  ///< -1: none
};

/// Draws the rows [first_row, end_row). A sample on an edge belongs to both triangles that share it, so that no gap
/// opens between neighbours; of equal nearness the first drawn wins.
void draw(const FlatTriangle& triangle, int first_row, int end_row, NearnessImage& image);

/// Draws all triangles, in bands of rows that run in parallel, each in the order given.
void draw_all(const std::vector<FlatTriangle>& triangles, NearnessImage& image);

/// For each sample the sum of the optical depths of the triangles that are nearer than `image`; in bands as well.
std::vector<float> optical_depths(const std::vector<FlatTriangle>& triangles, const NearnessImage& image);

}  // namespace pliant
