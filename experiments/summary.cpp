#include "experiments/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "experiments/papers.hpp"

namespace pliant::experiments {

namespace {

constexpr std::array<const char*, 4> kVerdicts = {"holds", "fails", "undecided", "not run"};

/// A reason in a cell of a table: on one line, no longer than a reader follows.
std::string in_cell(const std::string& text) {
  constexpr std::size_t kLongest = 330;
  std::string out;
  for (char c : text) out += c == '|' ? '/' : c == '\n' ? ' ' : c;
  if (out.size() <= kLongest) return out;
  out.resize(out.rfind(' ', kLongest));
  return out + " ...";
}

std::string join(const std::set<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

std::string counts_table(const Archive& archive) {
  std::string text = "| paper | holds | fails | undecided | not run |\n| --- | --- | --- | --- | --- |\n";
  const auto line = [&](const std::string& name, std::map<std::string, int> number) {
    text += fmt::format("| {} |", name);
    for (const char* verdict : kVerdicts) text += fmt::format(" {} |", number[verdict]);
    text += "\n";
  };
  for (const Paper& paper : kPapers)
    line(fmt::format("{} ({})", paper.key, paper.authors), count_verdicts(archive, paper.key));
  line("all", count_verdicts(archive));
  return text;
}

std::string table_of(const Archive& archive, const std::string& paper, const std::string& verdict,
                     const std::string& heading) {
  std::string text;
  for (const Claim& claim : claims()) {
    const Outcome outcome = archive.outcome(claim);
    if (claim.paper != paper || outcome.verdict != verdict) continue;
    if (text.empty()) text = fmt::format("\n| {} | {} |\n| --- | --- |\n", verdict, heading);
    text += fmt::format("| `{}` | {} |\n", claim.id.substr(paper.size() + 1), in_cell(outcome.claim->value("why", "")));
  }
  return text;
}

}  // namespace

Provenance provenance(const Archive& archive) {
  Provenance from;
  for (const Experiment& experiment : catalogue())
    for (bool quick : {false, true})
      if (const Json* result = archive.result(experiment.name, quick)) {
        from.commits.insert(result->value("commit", "?").substr(0, 9));
        from.machines.insert(fmt::format("{} ({} cores)", result->at("machine").value("processor", "?"),
                                         result->at("machine").value("cores", 0)));
        from.sizes.insert(result->value("size", "?"));
        from.runs += 1;
        from.unfinished += !result->value("unfinished", "").empty();
      }
  return from;
}

std::string summary(const Archive& archive) {
  const Provenance from = provenance(archive);
  std::string text = fmt::format(
      "Runs: {}, at {} size on {}, by {} {}{}. A claim is judged by its run at full size where there is one.\n\n",
      from.runs, join(from.sizes), join(from.machines), from.commits.size() == 1 ? "commit" : "commits",
      join(from.commits),
      from.unfinished > 0 ? fmt::format("; {} of them did not reach their end", from.unfinished) : "");
  text += counts_table(archive);
  for (const Paper& paper : kPapers) {
    text += fmt::format("\n### {} ({})\n", paper.key, paper.authors);
    std::string holding;
    for (const Claim& claim : claims())
      if (claim.paper == paper.key && archive.outcome(claim).verdict == "holds")
        holding += fmt::format("{}`{}`", holding.empty() ? "" : ", ", claim.id.substr(claim.paper.size() + 1));
    if (!holding.empty()) text += "\nHolds: " + holding + ".\n";
    text += table_of(archive, paper.key, "fails", "what was measured, and why");
    text += table_of(archive, paper.key, "undecided", "why");
  }
  return text;
}

}  // namespace pliant::experiments
