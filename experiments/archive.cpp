#include "experiments/archive.hpp"

#include <algorithm>
#include <fstream>

namespace pliant::experiments {

std::filesystem::path result_folder(const std::filesystem::path& folder, const std::string& experiment, bool quick) {
  std::string name = experiment;
  std::replace(name.begin(), name.end(), '/', '-');
  return folder / (quick ? "quick" : "full") / name;
}

bool Outcome::is_open() const {
  return verdict == "undecided" && result != nullptr && !result->value("unfinished", "").empty();
}

Archive::Archive(const std::filesystem::path& folder, const std::vector<Json>& recorded) : folder_(folder) {
  const auto is_result_of = [](const Json& data, const Experiment& experiment) {
    return data.is_object() && data.value("experiment", "") == experiment.name && data.contains("claims");
  };
  for (const Experiment& experiment : catalogue())
    for (const bool quick : {false, true}) {
      std::ifstream file(result_folder(folder, experiment.name, quick) / "results.json");
      if (!file) continue;
      Json data = Json::parse(file, nullptr, false);
      if (is_result_of(data, experiment)) own_[{experiment.name, quick}] = std::move(data);
    }
  for (const Json& data : recorded)
    for (const Experiment& experiment : catalogue())
      if (is_result_of(data, experiment)) recorded_[{experiment.name, data.value("size", "") == "quick"}] = data;
}

const Json* Archive::result(const std::string& experiment, bool quick) const {
  for (const Results* results : {&own_, &recorded_})
    if (const auto found = results->find({experiment, quick}); found != results->end()) return &found->second;
  return nullptr;
}

bool Archive::is_own(const Json& result) const {
  const auto found = own_.find({result.value("experiment", ""), result.value("size", "") == "quick"});
  return found != own_.end() && &found->second == &result;
}

Outcome Archive::outcome(const Claim& claim, bool quick) const {
  const auto& built = catalogue();
  if (std::none_of(built.begin(), built.end(), [&](const Experiment& e) { return e.name == claim.experiment; }))
    return {"not built", "", nullptr, nullptr};
  Outcome last{"not run", "", nullptr, nullptr};
  for (const Results* results : {&own_, &recorded_}) {
    const auto found = results->find({claim.experiment, quick});
    if (found == results->end()) continue;
    for (const Json& entry : found->second.at("claims"))
      if (entry.value("id", "") == claim.id && (last.claim == nullptr || last.is_open()))
        last = {entry.value("verdict", "undecided"), quick ? "quick" : "full", &entry, &found->second};
  }
  return last;
}

Outcome Archive::outcome(const Claim& claim) const {
  const Outcome full = outcome(claim, false), quick = outcome(claim, true);
  if (full.claim == nullptr) return quick;
  return full.is_open() && quick.claim != nullptr ? quick : full;
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
    const bool is_begun = full != nullptr && !full->value("unfinished", "").empty();
    Unrun entry{&experiment, 0, is_begun ? full->value("processor_seconds", full->value("seconds", 0.0)) / 3600 : 0,
                full_cost(experiment.name)};
    for (const Claim* claim : claims_of(experiment.name)) {
      const Outcome outcome = archive.outcome(*claim, false);
      entry.claims += outcome.claim == nullptr || outcome.is_open();
    }
    if (entry.claims > 0) all.push_back(entry);
  }
  return all;
}

}  // namespace pliant::experiments
