#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "pliant/sim/step_report.hpp"

namespace pliant::testing {

/// What a solver reported under this name; a failure of the test where it did not.
inline double figure(const StepReport& report, std::string_view name) {
  for (const Figure& f : report.figures)
    if (f.name == name) return f.value;
  ADD_FAILURE() << "no figure " << name;
  return 0;
}

}  // namespace pliant::testing
