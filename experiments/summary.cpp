#include "experiments/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "experiments/papers.hpp"

namespace pliant::experiments {

namespace {

constexpr std::array<const char*, 3> kVerdicts = {"holds", "fails", "undecided"};

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
  std::string text =
      "| paper | full size: holds | fails | undecided | quick size only: holds | fails | undecided | not run |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  const auto line = [&](const std::string& name, const std::string& paper) {
    text += fmt::format("| {} |", name);
    for (const char* size : {"full", "quick"}) {
      auto number = count_verdicts(archive, paper, size);
      for (const char* verdict : kVerdicts) text += fmt::format(" {} |", number[verdict]);
    }
    text += fmt::format(" {} |\n", count_verdicts(archive, paper)["not run"]);
  };
  for (const Paper& paper : kPapers) line(fmt::format("{} ({})", paper.key, paper.authors), paper.key);
  line("all", "");
  return text;
}

/// What remains to be run, with the hours it takes.
std::string hours_table(const Archive& archive) {
  std::string text;
  double hours = 0;
  int claims = 0, unknown = 0;
  for (const Unrun& unrun : not_run_at_full_size(archive)) {
    text += fmt::format("| `{}` | {} | {} | {}{} |\n", unrun.experiment->name, unrun.claims,
                        unrun.cost == nullptr ? "?" : fmt::format("{:.2g}", unrun.cost->hours),
                        unrun.cost == nullptr ? "not known" : unrun.cost->from,
                        unrun.begun > 0 ? fmt::format("; stopped after {:.2f} h", unrun.begun) : "");
    claims += unrun.claims;
    hours += unrun.cost == nullptr ? 0 : unrun.cost->hours;
    unknown += unrun.cost == nullptr;
  }
  if (text.empty()) return "";
  return fmt::format(
      "\n### Not decided at full size, for want of hours\n\nClaims: {}; hours of one core: {:.0f}{}.\n\n"
      "| experiment | claims | hours | from |\n| --- | --- | --- | --- |\n{}",
      claims, hours, unknown > 0 ? fmt::format(", and {} experiments of which it is not known", unknown) : "", text);
}

std::string table_of(const Archive& archive, const std::string& paper, const std::string& verdict,
                     const std::string& heading) {
  std::string text;
  for (const auto& [claim, outcome] : judged_claims(archive, paper)) {
    if (outcome.verdict != verdict) continue;
    if (text.empty()) text = fmt::format("\n| {} | size | {} |\n| --- | --- | --- |\n", verdict, heading);
    text += fmt::format("| `{}` | {} | {} |\n", claim->id.substr(paper.size() + 1), outcome.size,
                        in_cell(outcome.claim->value("why", "")));
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
        for (const Json& claim : result->at("claims"))
          if (claim.contains("commit")) from.commits.insert(claim["commit"].get<std::string>().substr(0, 9));
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
      "Runs: {}, at {} size on {}, by {} {}{}. A claim is judged by its run at full size where one has decided it or "
      "come to its end, else by the quick one.\n\n",
      from.runs, join(from.sizes), join(from.machines), from.commits.size() == 1 ? "commit" : "commits",
      join(from.commits),
      from.unfinished > 0 ? fmt::format("; {} of them did not reach their end", from.unfinished) : "");
  text += counts_table(archive) + hours_table(archive);
  for (const Paper& paper : kPapers) {
    text += fmt::format("\n### {} ({})\n", paper.key, paper.authors);
    for (const char* size : {"full", "quick"}) {
      std::string holding;
      for (const Claim& claim : claims())
        if (const Outcome outcome = archive.outcome(claim);
            claim.paper == paper.key && outcome.verdict == "holds" && outcome.size == size)
          holding += fmt::format("{}`{}`", holding.empty() ? "" : ", ", claim.id.substr(claim.paper.size() + 1));
      if (!holding.empty()) text += fmt::format("\nHolds at {} size: {}.\n", size, holding);
    }
    text += table_of(archive, paper.key, "fails", "what was measured, and why");
    text += table_of(archive, paper.key, "undecided", "why");
  }
  return text;
}

}  // namespace pliant::experiments
