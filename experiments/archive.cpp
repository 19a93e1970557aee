#include "experiments/archive.hpp"

#include <algorithm>
#include <fstream>

namespace pliant::experiments {

std::filesystem::path result_folder(const std::filesystem::path& folder, const std::string& experiment, bool quick) {
  std::string name = experiment;
  std::replace(name.begin(), name.end(), '/', '-');
  return folder / (quick ? "quick" : "full") / name;
}

Archive::Archive(const std::filesystem::path& folder) : folder_(folder) {
  for (const Experiment& experiment : catalogue())
    for (const bool quick : {false, true}) {
      std::ifstream file(result_folder(folder, experiment.name, quick) / "results.json");
      if (!file) continue;
      Json data = Json::parse(file, nullptr, false);
      if (data.is_object() && data.value("experiment", "") == experiment.name && data.contains("claims"))
        results_[{experiment.name, quick}] = std::move(data);
    }
}

const Json* Archive::result(const std::string& experiment, bool quick) const {
  const auto found = results_.find({experiment, quick});
  return found == results_.end() ? nullptr : &found->second;
}

Outcome Archive::outcome(const Claim& claim, bool quick) const {
  const auto& built = catalogue();
  if (std::none_of(built.begin(), built.end(), [&](const Experiment& e) { return e.name == claim.experiment; }))
    return {"not built", "", nullptr, nullptr};
  const Json* data = result(claim.experiment, quick);
  if (data != nullptr)
    for (const Json& entry : data->at("claims"))
      if (entry.value("id", "") == claim.id)
        return {entry.value("verdict", "undecided"), quick ? "quick" : "full", &entry, data};
  return {"not run", "", nullptr, nullptr};
}

Outcome Archive::outcome(const Claim& claim) const {
  const Outcome full = outcome(claim, false), quick = outcome(claim, true);
  if (full.claim == nullptr) return quick;
  // A run that was stopped says nothing of what it had not come to.
  const bool is_open = full.verdict == "undecided" && !full.result->value("unfinished", "").empty();
  return is_open && quick.claim != nullptr ? quick : full;
}

std::map<std::string, int> count_verdicts(const Archive& archive, const std::string& paper, const std::string& size) {
  std::map<std::string, int> counts;
  for (const Claim& c : claims()) {
    if (!paper.empty() && c.paper != paper) continue;
    const Outcome outcome = archive.outcome(c);
    if (size.empty() || outcome.size == size) ++counts[outcome.verdict];
  }
  return counts;
}

std::vector<JudgedClaim> judged_claims(const Archive& archive, const std::string& paper) {
  std::vector<JudgedClaim> all;
  for (const Claim& c : claims())
    if (c.paper == paper) all.push_back({&c, archive.outcome(c)});
  std::stable_partition(all.begin(), all.end(), [](const JudgedClaim& j) { return j.outcome.size == "full"; });
  return all;
}

std::vector<Unrun> not_run_at_full_size(const Archive& archive) {
  std::vector<Unrun> all;
  for (const Experiment& experiment : catalogue()) {
    const Json* full = archive.result(experiment.name, false);
    if (full != nullptr && full->value("unfinished", "").empty()) continue;
    Unrun entry{&experiment, 0, full == nullptr ? 0 : full->value("seconds", 0.0) / 3600, full_cost(experiment.name)};
    for (const Claim* claim : claims_of(experiment.name)) {
      const Outcome outcome = archive.outcome(*claim, false);
      entry.claims += outcome.verdict != "holds" && outcome.verdict != "fails";
    }
    if (entry.claims > 0) all.push_back(entry);
  }
  return all;
}

}  // namespace pliant::experiments
