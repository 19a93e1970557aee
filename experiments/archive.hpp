#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "experiments/experiment.hpp"

namespace pliant::experiments {

/// Where the results of an experiment go: FOLDER/quick/PAPER-EXPERIMENT or FOLDER/full/PAPER-EXPERIMENT.
std::filesystem::path result_folder(const std::filesystem::path& folder, const std::string& experiment, bool quick);

/// What is known of a claim.
struct Outcome {
  std::string verdict;           ///< holds, fails, undecided, "not run" or "not built"
  std::string size;              ///< full or quick; empty where nothing ran
  const Json* claim = nullptr;   ///< {id, verdict, measured, why, parts} of that run
  const Json* result = nullptr;  ///< the whole of results.json
};

/// The results.json files of a folder.
class Archive {
 public:
  /// Files that are not results are passed over; a folder that is not there is empty.
  explicit Archive(const std::filesystem::path& folder);

  /// Null when there is none.
  const Json* result(const std::string& experiment, bool quick) const;
  /// Of the run at full size where there is one, else of the quick one.
  Outcome outcome(const Claim& claim) const;
  Outcome outcome(const Claim& claim, bool quick) const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
  std::map<std::pair<std::string, bool>, Json> results_;
};

/// holds, fails, undecided, not run, not built: how many.
std::map<std::string, int> count_verdicts(const Archive& archive, const std::string& paper = "");

}  // namespace pliant::experiments
