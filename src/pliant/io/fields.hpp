#pragma once

#include <span>
#include <vector>

#include "pliant/sim/model.hpp"

namespace pliant {

/// What is drawn of an element, at its centroid.
struct ElementFields {
  std::vector<double> von_mises;  ///< of the Cauchy stress, Pa
  std::vector<double> stretch;    ///< the largest principal stretch
};

/// One value per element of the body, or per triangle of a spring network (no stress; the stretch is that of its
/// longest edge), or per segment of a rod, of the fibre that is stretched or strained most. Elements squeezed flat, and
/// inverted ones of a law without energy there, have a stress that is not finite: who draws or writes it says so
/// (FrameWriter counts them).
ElementFields element_fields(const Body& body, const Pose& pose);
/// The largest principal stretch of some of them, ascending.
std::vector<double> element_stretches(const Body& body, const Pose& pose, std::span<const Index> elements);

}  // namespace pliant
