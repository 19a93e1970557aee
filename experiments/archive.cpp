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
  const Outcome full = outcome(claim, false);
  return full.claim != nullptr ? full : outcome(claim, true);
}

std::map<std::string, int> count_verdicts(const Archive& archive, const std::string& paper) {
  std::map<std::string, int> counts;
  for (const Claim& c : claims())
    if (paper.empty() || c.paper == paper) ++counts[archive.outcome(c).verdict];
  return counts;
}

}  // namespace pliant::experiments
