#include "pliant/materials/curve.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "pliant/base/error.hpp"

namespace pliant {

namespace {

/// Second derivatives at the knots of the natural cubic spline (zero at both ends), by the Thomas algorithm.
std::vector<double> natural_curvatures(const std::vector<Curve::Point>& points) {
  const std::size_t n = points.size();
  std::vector<double> curvature(n, 0.0), upper(n, 0.0);
  for (std::size_t i = 1; i + 1 < n; ++i) {
    const double before = points[i].stretch - points[i - 1].stretch, after = points[i + 1].stretch - points[i].stretch;
    const double jump =
        (points[i + 1].slope - points[i].slope) / after - (points[i].slope - points[i - 1].slope) / before;
    const double pivot = 2 * (before + after) - before * upper[i - 1];
    upper[i] = after / pivot;
    curvature[i] = (6 * jump - before * curvature[i - 1]) / pivot;
  }
  for (std::size_t i = n - 1; i-- > 1;) curvature[i] -= upper[i] * curvature[i + 1];
  return curvature;
}

/// Integral of the slope's cubic from 0 to t.
double integral(const std::array<double, 4>& c, double t) {
  return t * (c[0] + t * (c[1] / 2 + t * (c[2] / 3 + t * c[3] / 4)));
}

}  // namespace

Curve Curve::polynomial(std::vector<double> coefficients) {
  for (double c : coefficients)
    if (!std::isfinite(c)) throw InputError("the coefficients of a material curve must be finite numbers");
  Curve curve;
  curve.coefficients_ = std::move(coefficients);
  if (!curve.coefficients_.empty()) curve.coefficients_[0] = 0;
  while (!curve.coefficients_.empty() && curve.coefficients_.back() == 0) curve.coefficients_.pop_back();
  return curve;
}

Curve Curve::spline(std::vector<Point> points) {
  if (points.size() < 2) throw InputError("a material curve needs at least two points [stretch, stress in Pa]");
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!std::isfinite(points[i].stretch) || !std::isfinite(points[i].slope))
      throw InputError("the points of a material curve must be finite numbers");
    if (i > 0 && !(points[i].stretch > points[i - 1].stretch)) {
      std::ostringstream message;
      message << "the points of a material curve must have increasing stretches, but " << points[i].stretch
              << " follows " << points[i - 1].stretch;
      throw InputError(message.str());
    }
  }
  const std::vector<double> m = natural_curvatures(points);
  const std::size_t n = points.size();
  Curve curve;
  for (const Point& p : points) curve.knots_.push_back(p.stretch);
  const auto tangent = [&](std::size_t i, double slope) {
    return Piece{points[i].stretch, 0, {points[i].slope, slope, 0, 0}};
  };
  for (std::size_t i = 0; i + 1 < n; ++i) {
    const double width = points[i + 1].stretch - points[i].stretch;
    const double secant = (points[i + 1].slope - points[i].slope) / width;
    const Piece piece{
        points[i].stretch,
        0,
        {points[i].slope, secant - width * (2 * m[i] + m[i + 1]) / 6, m[i] / 2, (m[i + 1] - m[i]) / (6 * width)}};
    if (i == 0) curve.pieces_.push_back(tangent(0, piece.slope[1]));
    curve.pieces_.push_back(piece);
    if (i + 2 == n) curve.pieces_.push_back(tangent(n - 1, secant + width * (2 * m[n - 1] + m[n - 2]) / 6));
  }
  for (std::size_t k = 2; k < curve.pieces_.size(); ++k) {
    const Piece& before = curve.pieces_[k - 1];
    curve.pieces_[k].value = before.value + integral(before.slope, curve.pieces_[k].left - before.left);
  }
  const double rest = curve(1).value;
  for (Piece& piece : curve.pieces_) piece.value -= rest;
  return curve;
}

Curve::Values Curve::operator()(double s) const {
  if (!pieces_.empty()) {
    const auto above = static_cast<std::size_t>(std::upper_bound(knots_.begin(), knots_.end(), s) - knots_.begin());
    const Piece& piece = pieces_[above];
    const auto& c = piece.slope;
    const double t = s - piece.left;
    return {piece.value + integral(c, t), c[0] + t * (c[1] + t * (c[2] + t * c[3])),
            c[1] + t * (2 * c[2] + t * 3 * c[3])};
  }
  const double t = s - 1;
  Values f;
  for (std::size_t k = coefficients_.size(); k-- > 0;) {
    f.dd = f.dd * t + 2 * f.d;
    f.d = f.d * t + f.value;
    f.value = f.value * t + coefficients_[k];
  }
  if (std::isnan(s)) f = {s, s, s};
  return f;
}

}  // namespace pliant
