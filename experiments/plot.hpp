#pragma once

#include "experiments/experiment.hpp"

namespace pliant::experiments {

/// The curves of this name over their indices, as an SVG: one line per row that has one, labelled by the row's first
/// text and, where rows share it, by what tells them apart. Positive values that span more than two decades get a
/// logarithmic axis.
std::string svg(const std::string& title, const std::string& name, const std::vector<Json>& rows,
                const std::vector<Json>& curves);

}  // namespace pliant::experiments
