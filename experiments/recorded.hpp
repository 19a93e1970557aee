#pragma once

#include <filesystem>
#include <vector>

#include "experiments/archive.hpp"

namespace pliant::experiments {

/// The results that come with the program, the files of experiments/results: what `reproduce --claims` and `--report`
/// show of experiments that were not run here.
const std::vector<Json>& recorded_results();

/// A result as it is recorded: claims and checks with their numbers to six digits, options, commit, machine and time,
/// but no rows and curves, which are of many megabytes, no long lists and no path of the machine.
Json recorded_form(const Json& result);

/// Writes the results of an archive's own folder into `folder` as they are recorded, FOLDER/full/PAPER-EXPERIMENT and
/// FOLDER/quick/PAPER-EXPERIMENT, over what is there; but a run that was stopped takes the place of a stopped one only,
/// and where it decided nothing keeps what that had decided. Returns how many were written.
int record(const Archive& archive, const std::filesystem::path& folder);

}  // namespace pliant::experiments
