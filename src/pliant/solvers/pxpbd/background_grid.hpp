#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "pliant/math/types.hpp"

namespace pliant::pbd {

/// Where a point lies in the grid: the nodes of its cell and their trilinear weights, which add up to one.
struct GridPoint {
  std::array<Index, 8> nodes;
  std::array<double, 8> weights;
};

/// The cells of an infinite regular grid that hold points, and their nodes. Nothing else is stored, so that a scene may
/// spread as far as it likes.
class BackgroundGrid {
 public:
  explicit BackgroundGrid(double spacing) : spacing_(spacing) {}

  /// Finds cells and weights of all points. False, and nothing to be used, when one is more than a million cells from
  /// the origin or not finite.
  bool cover(const VecX& x);

  double spacing() const { return spacing_; }
  Index node_count() const { return static_cast<Index>(positions_.size()); }
  const Vec3& position(Index i) const { return positions_[static_cast<std::size_t>(i)]; }
  const std::vector<GridPoint>& points() const { return points_; }

 private:
  /// Numbers keys in the order in which they are met.
  class Table {
   public:
    void clear(std::size_t expected);
    /// The key's number, and whether it is new.
    std::pair<Index, bool> insert(std::int64_t key);

   private:
    void grow();
    std::vector<std::int64_t> keys_;
    std::vector<Index> numbers_;
    Index count_ = 0;
  };

  double spacing_;
  Table cells_, nodes_;
  std::vector<std::array<Index, 8>> cell_nodes_;
  std::vector<Vec3> positions_;
  std::vector<GridPoint> points_;
};

/// Masses and velocities of the nodes from those of the points, by APIC (Jiang et al. 2015): m_i = sum w m_p,
/// m_i v_i = sum w m_p (v_p + C_p (x_i - x_p)). Conserves momentum; velocities that are affine in space, a rigid
/// rotation among them, come through unchanged.
void transfer_to_grid(const BackgroundGrid& grid, const VecX& x, const VecX& v, const std::vector<Mat3>& C,
                      const VecX& point_mass, std::vector<double>& mass, std::vector<Vec3>& velocity);

/// The velocity gradients C_p of points that are vertices of a mesh, fitted to their neighbours. APIC keeps C_p as a
/// further unknown of particles; a mesh knows it from its vertices, and a state needs nothing more than x and v.
class VelocityGradients {
 public:
  /// Neighbours are the points that share a stencil of four.
  VelocityGradients(Index points, std::span<const Index> stencils);
  void fit(const VecX& x, const VecX& v, const VecX& mass, double spacing, std::vector<Mat3>& C) const;

 private:
  std::vector<Index> start_, neighbours_;
};

}  // namespace pliant::pbd
