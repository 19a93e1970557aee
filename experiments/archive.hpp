#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "experiments/experiment.hpp"
#include "experiments/full_cost.hpp"

namespace pliant::experiments {

/// Where the results of an experiment go: FOLDER/quick/PAPER-EXPERIMENT or FOLDER/full/PAPER-EXPERIMENT.
std::filesystem::path result_folder(const std::filesystem::path& folder, const std::string& experiment, bool quick);

/// What is known of a claim.
struct Outcome {
  std::string verdict;           ///< holds, fails, undecided, "not run" or "not built"
  std::string size;              ///< full or quick; empty where nothing ran
  const Json* claim = nullptr;   ///< {id, verdict, measured, why, parts} of that run
  const Json* result = nullptr;  ///< the whole of results.json
  bool is_open() const;          ///< undecided by a run that was stopped, which says nothing of the claim
};

/// The results.json files of a folder, and behind them recorded ones: those that come with the program, for who has
/// not run an experiment.
class Archive {
 public:
  /// Files that are not results are passed over; a folder that is not there is empty.
  explicit Archive(const std::filesystem::path& folder, const std::vector<Json>& recorded = {});

  /// Of the folder, else recorded; null when there is none.
  const Json* result(const std::string& experiment, bool quick) const;
  /// Of the run at full size where there is one that decided the claim or reached its end, else of the quick one.
  Outcome outcome(const Claim& claim) const;
  /// At that size; of the recorded run where the folder's own was stopped before it decided the claim.
  Outcome outcome(const Claim& claim, bool quick) const;
  /// Whether a result is of the folder, not recorded.
  bool is_own(const Json& result) const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  using Results = std::map<std::pair<std::string, bool>, Json>;
  std::filesystem::path folder_;
  Results own_, recorded_;
};

/// holds, fails, undecided, not run, not built: how many; with a size, of those judged by a run of that size.
std::map<std::string, int> count_verdicts(const Archive& archive, const std::string& paper = "",
                                          const std::string& size = "");

/// A claim and what is known of it; of a paper all claims, those judged by a run at full size first.
struct JudgedClaim {
  const Claim* claim;
  Outcome outcome;
};
std::vector<JudgedClaim> judged_claims(const Archive& archive, const std::string& paper);

/// An experiment with claims that no run at full size has judged.
struct Unrun {
  const Experiment* experiment;
  int claims = 0;        ///< of its claims, those
  double begun = 0;      ///< hours that a run at full size took before it was stopped; 0: none was begun
  const FullCost* cost;  ///< null where nothing is known
};
std::vector<Unrun> not_run_at_full_size(const Archive& archive);

}  // namespace pliant::experiments
