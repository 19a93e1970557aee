#include "pliant/render/picture_raster.hpp"

#include <algorithm>
#include <cmath>

#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

/// a x + b y + c >= 0 on the inner side of an edge.
struct HalfPlane {
  double a, b, c;
};

/// Computed from the lower to the higher end whatever the direction, then negated if need be: the two triangles at an
/// edge get coefficients that differ in sign only, and every sample is on the inner side of at least one.
HalfPlane edge_through(double x0, double y0, double x1, double y1) {
  const bool swapped = x1 < x0 || (x1 == x0 && y1 < y0);
  if (swapped) std::swap(x0, x1), std::swap(y0, y1);
  const HalfPlane edge = {y0 - y1, x1 - x0, x0 * y1 - x1 * y0};
  return swapped ? HalfPlane{-edge.a, -edge.b, -edge.c} : edge;
}

int clamp_to(double value, int low, int high) {
  return static_cast<int>(std::clamp(value, static_cast<double>(low), static_cast<double>(high)));
}

/// The numbers i in [low, high), none of which is negative, for which i + 0.5 may lie between the least and the most of
/// three: most of a fine mesh lies between samples, and is done with here.
std::array<int, 2> samples_between(const std::array<double, 3>& x, int low, int high) {
  constexpr double kRounding = 1e-6;
  const double least = std::min(std::min(x[0], x[1]), x[2]), most = std::max(std::max(x[0], x[1]), x[2]);
  // Truncation rounds down, as nothing is negative; it is quicker than std::floor.
  return {clamp_to(least + 0.5 - kRounding, low, high), clamp_to(most + 0.5 + kRounding, low, high)};
}

/// The rows whose samples a triangle may cover, within [low, high).
std::array<int, 2> rows_of(const FlatTriangle& t, int low, int high) { return samples_between(t.y, low, high); }

/// Samples of a row, one after the other, whose nearness is first + k slope.
struct Run {
  std::size_t begin;
  int count;
  float first, slope;
  float nearness(int k) const { return first + slope * static_cast<float>(k); }
};

/// Calls visit(run) for the samples of rows [first_row, end_row) of a window inside a triangle.
template <class Visit>
void scan(const FlatTriangle& t, int first_row, int end_row, const NearnessImage& window, Visit&& visit) {
  const auto rows = rows_of(t, first_row, end_row);
  const auto [first_column, end_column] = samples_between(t.x, window.left, window.left + window.width);
  if (rows[0] >= rows[1] || first_column >= end_column) return;
  const double area = (t.x[1] - t.x[0]) * (t.y[2] - t.y[0]) - (t.x[2] - t.x[0]) * (t.y[1] - t.y[0]);
  if (!(std::abs(area) > 0)) return;
  const double sign = area > 0 ? 1 : -1;
  std::array<HalfPlane, 3> edges;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t n = (k + 1) % 3;
    const HalfPlane e = edge_through(t.x[k], t.y[k], t.x[n], t.y[n]);
    edges[k] = {sign * e.a, sign * e.b, sign * e.c};
  }
  // Of a few samples each is tested; where more lie in a row, the ends of those inside are estimated first.
  const bool is_narrow = end_column - first_column <= 4;
  std::array<double, 3> inverse{};
  if (!is_narrow) inverse = {1 / edges[0].a, 1 / edges[1].a, 1 / edges[2].a};
  for (int j = rows[0]; j < rows[1]; ++j) {
    const double y = j + 0.5;
    const std::array<double, 3> along = {edges[0].b * y + edges[0].c, edges[1].b * y + edges[1].c,
                                         edges[2].b * y + edges[2].c};
    const double nearness_along = t.slope_y * y + t.offset;
    const std::ptrdiff_t row = std::ptrdiff_t{j - window.top} * window.width - window.left;
    // Rounding keeps the order of products, so that the samples inside are a run of the row; where it begins and ends
    // is estimated, then tested.
    const auto inside = [&](int i) {
      const double x = i + 0.5;
      return edges[0].a * x + along[0] >= 0 && edges[1].a * x + along[1] >= 0 && edges[2].a * x + along[2] >= 0;
    };
    int begin = first_column, end = end_column;
    if (!is_narrow) {
      double low = first_column, high = end_column;
      for (std::size_t k = 0; k < 3; ++k) {
        const double crossing = -along[k] * inverse[k] - 0.5;
        if (edges[k].a > 0) low = std::max(low, crossing);
        if (edges[k].a < 0) high = std::min(high, crossing);
      }
      begin = std::max(first_column, clamp_to(low, first_column, end_column) - 1);
      end = std::min(end_column, clamp_to(high, first_column, end_column) + 2);
    }
    while (begin < end && !inside(begin)) ++begin;
    while (begin < end && !inside(end - 1)) --end;
    if (begin < end)
      visit(Run{static_cast<std::size_t>(row + begin), end - begin,
                static_cast<float>(t.slope_x * (begin + 0.5) + nearness_along), static_cast<float>(t.slope_x)});
  }
}

}  // namespace

NearnessImage::NearnessImage(int columns, int rows, float background)
    : width(columns),
      height(rows),
      nearness(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows), background) {}

void draw(const FlatTriangle& t, int first_row, int end_row, NearnessImage& image) {
  // Without branches, so that samples are compared several at a time.
  if (image.ids.empty()) {
    scan(t, first_row, end_row, image, [&](const Run& run) {
      float* nearest = image.nearness.data() + run.begin;
      for (int k = 0; k < run.count; ++k) nearest[k] = std::max(nearest[k], run.nearness(k));
    });
    return;
  }
  scan(t, first_row, end_row, image, [&](const Run& run) {
    float* nearest = image.nearness.data() + run.begin;
    Index* ids = image.ids.data() + run.begin;
    for (int k = 0; k < run.count; ++k) {
      const float nearness = run.nearness(k);
      const bool is_nearer = nearness > nearest[k];
      nearest[k] = is_nearer ? nearness : nearest[k];
      ids[k] = is_nearer ? t.id : ids[k];
    }
  });
}

void add_depth(const FlatTriangle& t, const NearnessImage& image, std::vector<float>& depths) {
  scan(t, image.top, image.top + image.height, image, [&](const Run& run) {
    for (int k = 0; k < run.count; ++k) {
      const std::size_t at = run.begin + static_cast<std::size_t>(k);
      if (run.nearness(k) > image.nearness[at]) depths[at] += t.depth;
    }
  });
}

TriangleBands::TriangleBands(const std::vector<FlatTriangle>& triangles, int rows, int height)
    : begin_(static_cast<std::size_t>((height + rows - 1) / rows) + 1, 0) {
  const auto for_each = [&](auto&& visit) {
    for (std::size_t t = 0; t < triangles.size(); ++t) {
      const auto covered = rows_of(triangles[t], 0, height);
      if (covered[0] >= covered[1]) continue;
      for (int b = covered[0] / rows; b <= (covered[1] - 1) / rows; ++b) visit(static_cast<std::size_t>(b), t);
    }
  };
  for_each([&](std::size_t band, std::size_t) { ++begin_[band + 1]; });
  for (std::size_t b = 1; b < begin_.size(); ++b) begin_[b] += begin_[b - 1];
  members_.resize(begin_.back());
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  for_each([&](std::size_t band, std::size_t t) { members_[next[band]++] = static_cast<Index>(t); });
}

void draw_all(const std::vector<FlatTriangle>& triangles, NearnessImage& image) {
  constexpr int kRows = 24;
  const TriangleBands bands(triangles, kRows, image.height);
  for_chunks(image.height, kRows, [&](Index begin, Index end) {
    for (Index t : bands.in(begin / kRows)) draw(triangles[static_cast<std::size_t>(t)], begin, end, image);
  });
}

}  // namespace pliant
