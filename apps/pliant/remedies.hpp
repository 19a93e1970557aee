#pragma once

#include <string>

#include "pliant/scene/scene.hpp"
#include "pliant/sim/stepper.hpp"

namespace pliant::app {

/// What a person may try after a step of this scene that failed, a line each. Every option is one that the scene's
/// solver takes.
std::string remedies(const Scene& scene, const StepReport& report);

}  // namespace pliant::app
