#pragma once

#include <memory>

#include "pliant/sim/model.hpp"

namespace pliant::experiments {

/// A bar of 1.5 x 0.5 x 0.5 m with so many cells across, rho = 1000, nu = 0.4: clamped at one end under gravity, or
/// dropped askew from 0.3 m onto a floor.
std::shared_ptr<const Model> swinging_bar(Index across, double young);
std::shared_ptr<const Model> dropped_bar(Index across, double young);

/// A lattice of struts in a sphere of 0.8 m, dropped askew from 0.3 m onto a floor: about 7, 115 and 330 thousand tets
/// with 2, 5 and 7 cells across a strut.
std::shared_ptr<const Model> sculpture(Index across, double young);

}  // namespace pliant::experiments
