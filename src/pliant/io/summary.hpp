#pragma once

#include <filesystem>

#include "pliant/io/run.hpp"

namespace pliant {

/// summary.json: what ran (scene, solver with all its parameters, machine, version), how it ended, sums and means.
void write_summary(const std::filesystem::path& file, const Scene& scene, const Model& model, const RunResult& result);

}  // namespace pliant
