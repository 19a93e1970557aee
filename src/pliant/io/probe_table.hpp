#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace pliant {

/// What probes.csv of a run has: numbers by column and line, NaN where a cell is empty.
struct ProbeTable {
  std::vector<std::string> columns;  ///< behind step and time, with their units
  std::vector<double> times;         ///< s
  std::vector<std::vector<double>> values;
};

/// As far as it can be read: of a run that was killed without the last line. Empty for a file that is none.
ProbeTable read_probe_table(const std::filesystem::path& csv);

/// Draws it as an SVG image of its own: one plot over time for each probe and quantity, with a line for each component.
void plot_probes(const std::filesystem::path& csv, const std::filesystem::path& svg);

}  // namespace pliant
