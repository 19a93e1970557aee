#pragma once

#include <array>
#include <utility>
#include <vector>

namespace pliant {

/// A function of one stretch with its first two derivatives, as the building block of Valanis-Landel materials.
///
/// - A polynomial in (s - 1), by its coefficients.
/// - A spline, by points of its *derivative*: stress over stretch is what one measures or draws (Xu, Sin, Zhu, Barbic
///   2015). The derivative is the natural cubic spline through the points, continued beyond them by its tangents, on
///   which the second derivative of a natural spline is zero too: it is C2 everywhere, the function itself C3.
///
/// The function is zero at s = 1.
class Curve {
 public:
  struct Point {
    double stretch, slope;
  };
  struct Values {
    double value = 0, d = 0, dd = 0;
  };

  /// Zero.
  Curve() = default;
  /// sum_k c_k (s - 1)^k; c_0 is dropped. Throws InputError for numbers that are not finite.
  static Curve polynomial(std::vector<double> coefficients);
  /// Throws InputError unless there are two points or more with finite numbers and increasing stretches.
  static Curve spline(std::vector<Point> points);

  Values operator()(double s) const;

  /// Per piece, the value at its left knot and the cubic of the slope in powers of the distance from there; the first
  /// and last pieces, beyond the points, are straight.
  struct Piece {
    double left, value;
    std::array<double, 4> slope;
  };
  /// What a vector kernel reads: the coefficients of a polynomial, or else a spline's knots and one piece more than
  /// these.
  struct Data {
    const double* coefficients;
    int degrees;
    const double* knots;
    int knot_count;
    const Piece* pieces;
  };
  Data data() const {
    return {coefficients_.data(), static_cast<int>(coefficients_.size()), knots_.data(),
            static_cast<int>(knots_.size()), pieces_.data()};
  }
  bool is_zero() const { return coefficients_.empty() && knots_.empty(); }
  /// Where the curve is not a single polynomial: the stretches of the points.
  std::vector<double> breaks() const { return knots_; }

 private:
  std::vector<double> coefficients_;
  std::vector<double> knots_;
  std::vector<Piece> pieces_;
};

}  // namespace pliant
