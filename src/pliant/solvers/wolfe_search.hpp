#pragma once

#include "pliant/solvers/line_search.hpp"

namespace pliant {

/// The strong Wolfe conditions (Nocedal and Wright, Algorithms 3.5 and 3.6), from a step of 1: for comparison, where
/// halving costs one evaluation less. Where no step meets both conditions, the best of those that fall enough is taken.
LineSearchResult wolfe_search(StepFunction& function, const Iterate& current, const Ray& ray,
                              const LineSearchOptions& options, Iterate& trial);

}  // namespace pliant
