#include "experiments/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>

#include "experiments/html.hpp"
#include "experiments/papers.hpp"
#include "experiments/plot.hpp"
#include "experiments/summary.hpp"
#include "pliant/io/build_info.hpp"

namespace pliant::experiments {

namespace {

struct Kind {
  const char *verdict, *tone, *meaning;
};
constexpr std::array<Kind, 5> kKinds = {{{"holds", "holds", "measured as the paper says"},
                                         {"fails", "fails", "measured otherwise; the reason is given"},
                                         {"undecided", "undecided", "the test could not be made"},
                                         {"not run", "none", "neither here nor recorded"},
                                         {"not built", "none", "the experiment is still to be written"}}};
constexpr std::size_t kMostRows = 300;

const char* tone(const std::string& verdict) {
  for (const Kind& kind : kKinds)
    if (verdict == kind.verdict) return kind.tone;
  return "none";
}

std::string verdict_badge(const Outcome& outcome) {
  std::string text = fmt::format("<span class=\"verdict tone-{}\">{}</span>", tone(outcome.verdict), outcome.verdict);
  if (!outcome.size.empty()) text += fmt::format("<span class=size>{} size</span>", outcome.size);
  return text;
}

std::string cards(const Archive& archive) {
  auto number = count_verdicts(archive);
  std::string text = "<div class=cards>";
  for (const Kind& kind : kKinds) {
    if (number[kind.verdict] == 0 && kind.tone == std::string("none")) continue;
    text += fmt::format(
        "<button class=\"card tone-{}\" data-verdict=\"{}\" aria-pressed=false><b>{}</b>{}<br>"
        "<span class=soft>{}</span></button>",
        kind.tone, kind.verdict, number[kind.verdict], kind.verdict, kind.meaning);
  }
  auto full = count_verdicts(archive, "", "full");
  if (const int decided = full["holds"] + full["fails"]; decided > 0)
    text += fmt::format(
        "<button class=\"card tone-size\" data-size=full aria-pressed=false><b>{}</b>decided at full size<br>"
        "<span class=soft>{} hold, {} fail{}</span></button>",
        decided, full["holds"], full["fails"],
        count_verdicts(archive, "", "quick").empty() ? "" : "; the others by quick runs");
  return text + "</div>\n";
}

/// A bar for each paper, cut by verdict.
std::string bars(const Archive& archive) {
  std::string text = "<div class=bars>";
  for (const Paper& paper : kPapers) {
    auto number = count_verdicts(archive, paper.key);
    int total = 0;
    for (const auto& [verdict, count] : number) total += count;
    text += fmt::format("<a href=\"#{0}\">{0}</a><svg viewBox=\"0 0 1000 20\" preserveAspectRatio=none role=img>",
                        paper.key);
    double at = 0;
    auto full = count_verdicts(archive, paper.key, "full");
    for (const Kind& kind : kKinds)
      for (const bool is_full : {true, false}) {
        const int count = is_full ? full[kind.verdict] : number[kind.verdict] - full[kind.verdict];
        const double width = total > 0 ? 1000.0 * count / total : 0;
        if (width > 0)
          text += fmt::format(
              "<rect x={:.1f} width={:.1f} height=20 style=\"fill:var(--{})\" fill-opacity={}><title>{} {}{}"
              "</title></rect>",
              at, width, kind.tone, is_full ? 1.0 : 0.4, count, kind.verdict,
              kind.tone == std::string("none") ? ""
              : is_full                        ? " at full size"
                                               : " at quick size only");
        at += width;
      }
    text +=
        fmt::format("</svg><span class=n>{} of {} decided at full size</span>", full["holds"] + full["fails"], total);
  }
  return text +
         "</div><p class=\"soft key\">Strong colours: judged by a run at full size; pale ones: by a quick run "
         "only.</p>\n";
}

/// What no run at full size has judged, and the hours it would take.
std::string remaining(const Archive& archive) {
  const std::vector<Unrun> all = not_run_at_full_size(archive);
  if (all.empty()) return "";
  std::string lines;
  double hours = 0;
  int count = 0;
  for (const Unrun& unrun : all) {
    lines += fmt::format("<tr><td><a href=\"#{}\">{}</a><td>{}<td>{}<td>{}{}</tr>\n",
                         html::anchor("run " + unrun.experiment->name), unrun.experiment->name, unrun.claims,
                         unrun.cost == nullptr ? "?" : fmt::format("{:.2g}", unrun.cost->hours),
                         unrun.cost == nullptr ? "not known" : html::escaped(unrun.cost->from),
                         unrun.begun > 0 ? fmt::format("; stopped after {:.2f} h", unrun.begun) : "");
    hours += unrun.cost == nullptr ? 0 : unrun.cost->hours;
    count += unrun.claims;
  }
  return fmt::format(
      "<details id=remaining><summary><h3>{} claims wait for hours of computing</h3> <span class=soft>at full size: {} "
      "experiments, some {:.0f} hours of one core</span></summary><div><div class=wrap><table class=hours><thead><tr>"
      "<th>experiment<th>claims<th>hours<th>from</thead><tbody>{}</tbody></table></div></div></details>\n",
      count, all.size(), hours, lines);
}

std::string reason(const Claim& claim, const Outcome& outcome) {
  if (outcome.claim == nullptr)
    return outcome.verdict == "not built" ? "" : fmt::format("full size: {}", html::escaped(claim.full));
  return html::escaped(outcome.claim->value("why", ""));
}

/// The commit of a verdict that an earlier run than the experiment's last has left.
std::string earlier_commit(const Outcome& outcome) {
  if (outcome.claim == nullptr || !outcome.claim->contains("commit")) return "";
  return fmt::format("<span class=size>by <code>{}</code></span>", outcome.claim->value("commit", "").substr(0, 9));
}

/// What the quick run says beside the full one.
std::string quick_beside(const Archive& archive, const Claim& claim, const Outcome& outcome) {
  if (outcome.size != "full") return "";
  const Outcome quick = archive.outcome(claim, true);
  return quick.claim == nullptr ? "" : fmt::format("<span class=size>quick: {}</span>", quick.verdict);
}

std::string part_line(const Json& part) {
  const bool met = part.value("met", false);
  return fmt::format("<div class=part><span class={}>{}</span> {} <b>{}</b> <span class=soft>{}</span></div>",
                     met ? "passes" : "misses", met ? "✓" : "✗", html::escaped(part.value("what", "")),
                     html::value(part.at("value")), html::escaped(part.value("asked", "")));
}

/// Every number of the test beside what was asked of it, those that miss first; numbers beyond the test behind a click.
std::string measured_cell(const Outcome& outcome) {
  if (outcome.claim == nullptr) return "";
  constexpr std::size_t kShown = 6;
  std::vector<std::string> lines;
  std::set<std::string> judged;
  for (bool met : {false, true})
    for (const Json& part : outcome.claim->value("parts", Json::array())) {
      if (part.value("met", false) == met) lines.push_back(part_line(part));
      judged.insert(part.value("what", ""));
    }
  Json notes = Json::object();
  if (const Json& measured = outcome.claim->at("measured"); measured.is_object())
    for (const auto& [key, value] : measured.items())
      if (!judged.contains(key)) notes[key] = value;
  std::string text, rest;
  for (std::size_t k = 0; k < lines.size(); ++k) (k < kShown ? text : rest) += lines[k];
  if (!notes.empty()) rest += html::value(notes);
  const std::size_t more = (lines.size() > kShown ? lines.size() - kShown : 0) + notes.size();
  if (!rest.empty()) text += fmt::format("<details class=more><summary>{} more</summary>{}</details>", more, rest);
  return text;
}

std::string claim_table(const Archive& archive, const std::string& paper) {
  std::string text =
      "<div class=wrap><table class=claims><thead><tr><th>verdict<th>claim and its test<th>published<th>measured, and "
      "what was asked<th>why</thead><tbody>\n";
  for (const auto& [judged, outcome] : judged_claims(archive, paper)) {
    const Claim& claim = *judged;
    text += fmt::format(
        "<tr id=\"{}\" data-verdict=\"{}\" data-size=\"{}\"><td>{}{}{}<td>{}<div class=test>Holds if: "
        "{}</div><code>{}</code> "
        "<a class=run href=\"#{}\">run</a><td>{}<td>{}<td>{}</tr>\n",
        html::anchor(claim.id), outcome.verdict, outcome.size, verdict_badge(outcome),
        quick_beside(archive, claim, outcome), earlier_commit(outcome), html::escaped(claim.statement),
        html::escaped(claim.test), claim.id, html::anchor("run " + claim.experiment),
        claim.published.is_null() ? "<span class=soft>no figure</span>" : html::value(claim.published),
        measured_cell(outcome), reason(claim, outcome));
  }
  return text + "</tbody></table></div>\n";
}

std::string row_table(const Json& rows) {
  if (rows.empty()) return "";
  std::vector<std::string> columns;
  for (const Json& row : rows)
    for (const auto& [key, value] : row.items())
      if (std::find(columns.begin(), columns.end(), key) == columns.end()) columns.push_back(key);
  std::string text = "<div class=rows><div class=wrap><table><thead><tr>";
  for (const std::string& column : columns) text += "<th>" + html::escaped(column);
  text += "</thead><tbody>";
  for (std::size_t k = 0; k < std::min(rows.size(), kMostRows); ++k) {
    text += "<tr>";
    for (const std::string& column : columns)
      text += "<td>" + (rows[k].contains(column) ? html::value(rows[k][column]) : std::string());
    text += "</tr>\n";
  }
  text += "</tbody></table></div>";
  if (rows.size() > kMostRows)
    text += fmt::format("<p class=soft>The first {} of {} rows.</p>", kMostRows, rows.size());
  return text + "</div>";
}

std::string check_list(const Json& checks) {
  if (checks.empty()) return "";
  std::string text = "<p class=soft>Checks of our own</p><ul>";
  for (const Json& check : checks)
    text += fmt::format(
        "<li><span class={}>{}</span> {} <span class=soft>(expected {}, measured {})</span></li>",
        check.at("holds").get<bool>() ? "passes" : "misses",
        check.at("holds").get<bool>() ? "passes:" : "fails:", html::escaped(check.at("text").get<std::string>()),
        html::value(check.at("expected")), html::value(check.at("measured")));
  return text + "</ul>";
}

/// The curves of one name in as many charts as a reader can follow: with more than a dozen, one for each value of the
/// text that has the fewest.
std::string charts(const std::string& title, const std::string& name, const std::vector<Json>& rows,
                   const std::vector<Json>& all) {
  constexpr std::size_t kMostCurves = 12;
  std::vector<Json> curves;
  std::copy_if(all.begin(), all.end(), std::back_inserter(curves), [&](const Json& c) { return c.at("name") == name; });
  const auto owner = [&](const Json& curve) -> const Json& { return rows[curve.at("row").get<std::size_t>()]; };
  std::map<std::string, std::set<std::string>> values;
  for (const Json& curve : curves)
    for (const auto& [key, value] : owner(curve).items())
      if (value.is_string()) values[key].insert(value.get<std::string>());
  const std::pair<const std::string, std::set<std::string>>* by = nullptr;
  for (const auto& entry : values)
    if (entry.second.size() > 1 && (by == nullptr || entry.second.size() < by->second.size())) by = &entry;
  if (curves.size() <= kMostCurves || by == nullptr || by->second.size() == curves.size())
    return fmt::format("<figure class=chart>{}</figure>", svg(title, name, rows, curves));
  std::string text;
  for (const std::string& value : by->second) {
    std::vector<Json> part;
    for (const Json& curve : curves)
      if (owner(curve).value(by->first, "") == value) part.push_back(curve);
    text += fmt::format("<figure class=chart>{}</figure>", svg(title + ", " + value, name, rows, part));
  }
  return text;
}

std::string run(const Archive& archive, const Experiment& experiment, const Json& result) {
  const bool quick = result.value("size", "") == "quick";
  const double processor = result.value("processor_seconds", 0.0);
  std::string text = fmt::format(
      "<p><b>{} size</b> <span class=soft>commit <code>{}</code>, {} ({} cores), {:.1f} s{}{}",
      quick ? "Quick" : "Full", result.value("commit", "?"), html::escaped(result["machine"].value("processor", "?")),
      result["machine"].value("cores", 0), result.value("seconds", 0.0),
      processor > 0 ? fmt::format(", {:.1f} s of processor time", processor) : "",
      result.value("unfinished", "").empty() ? "" : "; " + result.value("unfinished", ""));
  for (const auto& [key, value] : result.at("options").items())
    if (!value.get<std::string>().empty()) text += fmt::format("; {} = {}", key, html::escaped(value));
  text += "</span></p>";
  if (!archive.is_own(result))
    return text + "<p class=soft>Recorded with the program, without rows and curves: run it here to see them.</p>" +
           check_list(result.at("checks"));
  text += "<div class=pictures>";
  const std::filesystem::path folder = result_folder(archive.folder(), experiment.name, quick);
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.insert(entry.path());
  // Curves are drawn from the numbers, so that those of older runs are drawn alike; their files are not shown again.
  std::set<std::string> drawn;
  const auto curves = result.value("curves", std::vector<Json>{});
  for (const Json& curve : curves)
    if (const auto name = curve.at("name").get<std::string>(); drawn.insert(name).second)
      text += charts(experiment.name, name, result.at("rows").get<std::vector<Json>>(), curves);
  for (const auto& file : files)
    if (!drawn.contains(file.stem().string())) text += html::picture(file);
  return text + "</div>" + row_table(result.value("rows", Json::array())) + check_list(result.at("checks"));
}

std::string experiment_section(const Archive& archive, const Experiment& experiment) {
  const Json *full = archive.result(experiment.name, false), *quick = archive.result(experiment.name, true);
  std::string text =
      fmt::format("<details id=\"{}\"><summary><h3>{}</h3> <span class=soft>{}{}</span></summary><div>",
                  html::anchor("run " + experiment.name), experiment.name, html::escaped(experiment.summary),
                  full == nullptr && quick == nullptr ? " · not run" : "");
  for (const Json* result : {full, quick})
    if (result != nullptr) text += run(archive, experiment, *result);
  return text + "</div></details>\n";
}

std::string experiments_of(const Archive& archive, const std::string& paper) {
  std::string text;
  for (const Experiment& experiment : catalogue())
    if (experiment.name.starts_with(paper + "/")) text += experiment_section(archive, experiment);
  for (const Planned& planned : planned_experiments())
    if (planned.name.starts_with(paper + "/"))
      text += fmt::format("<p class=soft id=\"{}\">{}: {} · not built</p>\n", html::anchor("run " + planned.name),
                          planned.name, html::escaped(planned.summary));
  return text;
}

}  // namespace

std::string report(const Archive& archive) {
  std::string text = html::kHead;
  const Provenance from = provenance(archive);
  const auto listed = [](const std::set<std::string>& words) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : ", ") + html::escaped(word);
    return out;
  };
  text += fmt::format(
      "<h1>The papers' claims, measured</h1><p class=soft>{} checkable statements of five papers, each written down "
      "with the test that decides it before it was measured. A claim is judged by its run at full size if one has "
      "decided it or come to its end; otherwise by the quick run, which shows no more than that the experiment works."
      "</p><p class=soft>{} runs at {} size{}, on {}; {} <code>{}</code>{}. Page made by Pliant {}.</p>",
      claims().size(), from.runs, from.sizes.size() > 1 ? "full and quick" : listed(from.sizes),
      from.unfinished > 0 ? fmt::format(", {} of which did not reach their end", from.unfinished) : "",
      listed(from.machines), from.commits.size() == 1 ? "commit" : "commits", listed(from.commits),
      from.commits.size() > 1 ? " (not all of one build)" : "", version());
  text += cards(archive) + bars(archive) + remaining(archive) +
          "<p class=find><input type=search placeholder=\"Find a claim: a figure, a solver, a word\" "
          "aria-label=\"Find a claim\"> <span class=soft id=shown></span></p>";
  for (const Paper& paper : kPapers)
    text += fmt::format("<h2 id=\"{0}\">{0}</h2><p class=soft>{1} ({2})</p>\n", paper.key, html::escaped(paper.title),
                        html::escaped(paper.authors)) +
            claim_table(archive, paper.key) + experiments_of(archive, paper.key);
  std::string own;
  for (const Experiment& experiment : catalogue())
    if (claims_of(experiment.name).empty() && std::none_of(kPapers.begin(), kPapers.end(), [&](const Paper& p) {
          return experiment.name.starts_with(p.key + std::string("/"));
        }))
      own += experiment_section(archive, experiment);
  if (!own.empty()) text += "<h2 id=own>Beyond the papers</h2>\n" + own;
  return text + html::kScript;
}

}  // namespace pliant::experiments
