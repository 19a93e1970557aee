#include "experiments/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "experiments/conjac/conjac.hpp"
#include "experiments/contact/contact.hpp"
#include "experiments/pitfalls/pitfalls.hpp"
#include "experiments/pxpbd/pxpbd.hpp"
#include "experiments/quasi_newton/quasi_newton.hpp"
#include "experiments/robustness/robustness.hpp"
#include "experiments/warp_canceling/warp_canceling.hpp"
#include "pliant/base/error.hpp"
#include "pliant/base/nearest.hpp"
#include "pliant/io/build_info.hpp"

namespace pliant::experiments {

namespace {

double parse_number(const std::string& key, const std::string& text) {
  // Fractions are how time steps are written: 1/60.
  const auto parse = [&](std::string_view part) {
    double value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size())
      throw InputError(fmt::format("option '{}': '{}' is not a number", key, text));
    return value;
  };
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return parse(text);
  return parse(std::string_view(text).substr(0, slash)) / parse(std::string_view(text).substr(slash + 1));
}

std::string cell(const Json& value) {
  if (value.is_number_float()) return fmt::format("{:.4g}", value.get<double>());
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "-";
  return value.dump();
}

constexpr const char* kFullOnly = "it has no quick size: only a run at full size decides it";
constexpr const char* kNotMeasured = "this experiment does not yet measure it as its test asks";

bool all_finite(const Json& value) {
  if (value.is_number_float()) return std::isfinite(value.get<double>());
  return !value.is_structured() || std::all_of(value.begin(), value.end(), all_finite);
}

}  // namespace

double Context::number(const std::string& key) const { return parse_number(key, text(key)); }

std::vector<std::string> Context::list(const std::string& key) const {
  std::vector<std::string> parts;
  std::stringstream stream(text(key));
  for (std::string part; std::getline(stream, part, ',');)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

std::vector<double> Context::numbers(const std::string& key) const {
  std::vector<double> values;
  for (const std::string& part : list(key)) values.push_back(parse_number(key, part));
  return values;
}

std::vector<int> Context::integers(const std::string& key) const {
  std::vector<int> values;
  for (double value : numbers(key)) values.push_back(static_cast<int>(value));
  return values;
}

void Context::row(Json row) {
  for (auto entry = row.begin(); entry != row.end();) {
    if (entry->is_array()) {
      curves_.push_back({{"row", rows_.size()}, {"name", entry.key()}, {"values", std::move(*entry)}});
      entry = row.erase(entry);
    } else {
      ++entry;
    }
  }
  rows_.push_back(std::move(row));
  listener_.on_row(rows_.back());
}

void Context::decide(Decision decision) {
  const Claim& own = claim(decision.id());
  if (own.experiment != experiment_)
    throw std::invalid_argument(
        fmt::format("claim '{}' belongs to experiment '{}', not to '{}'", own.id, own.experiment, experiment_));
  for (const Decision& other : decisions_)
    if (other.id() == decision.id())
      throw std::invalid_argument(fmt::format("claim '{}' is decided twice in one run", decision.id()));
  if (quick_ && own.quick == "none") decision.leave_undecided("a run at full size, without which it is not decided");
  if (stopped()) decision.leave_undecided("the run reaches its end");
  open_.erase(decision.id());
  decisions_.push_back(std::move(decision));
  listener_.on_decision(decisions_.back());
}

void Context::settle(const Decision& decision) {
  const bool is_decided = std::any_of(decisions_.begin(), decisions_.end(),
                                      [&](const Decision& other) { return other.id() == decision.id(); });
  if (is_decided) return;
  if (!decision.is_open()) return decide(decision);
  open_.insert_or_assign(decision.id(), decision);
}

bool Context::wants(std::initializer_list<const char*> ids) const {
  return listener_.only.empty() ||
         std::any_of(ids.begin(), ids.end(), [&](const char* id) { return listener_.only.contains(id); });
}

void Context::check(Check check) {
  check.holds = check.holds && all_finite(check.measured) && all_finite(check.expected);
  checks_.push_back(std::move(check));
}

const std::vector<Experiment>& catalogue() {
  static const std::vector<Experiment> experiments = [] {
    std::vector<Experiment> all = pitfalls_experiments();
    for (Experiment& experiment : quasi_newton_experiments()) all.push_back(std::move(experiment));
    for (Experiment& experiment : warp_canceling_experiments()) all.push_back(std::move(experiment));
    for (Experiment& experiment : conjac_experiments()) all.push_back(std::move(experiment));
    for (Experiment& experiment : pxpbd_experiments()) all.push_back(std::move(experiment));
    for (Experiment& experiment : contact_experiments()) all.push_back(std::move(experiment));
    for (Experiment& experiment : robustness_experiments()) all.push_back(std::move(experiment));
    return all;
  }();
  return experiments;
}

const Experiment& find(const std::string& name) {
  std::vector<std::string> names;
  for (const Experiment& experiment : catalogue()) {
    if (experiment.name == name) return experiment;
    names.push_back(experiment.name);
  }
  const std::string close = nearest(name, names);
  throw InputError(fmt::format(
      "there is no experiment '{}'; {}", name,
      close.empty() ? "'pliant reproduce' without a name lists them" : fmt::format("did you mean '{}'?", close)));
}

std::map<std::string, std::string> complete_options(const Experiment& experiment, bool quick,
                                                    const std::map<std::string, std::string>& given) {
  std::map<std::string, std::string> options;
  std::vector<std::string> keys;
  for (const Option& option : experiment.options) {
    options[option.key] = quick ? option.quick_fallback : option.fallback;
    keys.push_back(option.key);
  }
  for (const auto& [key, value] : given) {
    if (!options.contains(key)) {
      const std::string close = nearest(key, keys);
      throw InputError(fmt::format("experiment '{}' has no option '{}'{}", experiment.name, key,
                                   close.empty() ? "" : fmt::format("; did you mean '{}'?", close)));
    }
    options[key] = value;
  }
  return options;
}

Json results(const Experiment& experiment, const Context& context, const Ending& ending) {
  Json claims = Json::array(), checks = Json::array();
  for (const Claim* own : claims_of(experiment.name)) {
    const auto& decisions = context.decisions();
    const auto decided =
        std::find_if(decisions.begin(), decisions.end(), [&](const auto& d) { return d.id() == own->id; });
    if (decided != decisions.end()) {
      claims.push_back(decided->json());
    } else if (const auto open = context.open().find(own->id); open != context.open().end()) {
      claims.push_back(open->second.json());
    } else {
      const bool full_only = context.quick() && own->quick == "none";
      const std::string why = full_only ? kFullOnly : ending.unfinished.empty() ? kNotMeasured : ending.unfinished;
      claims.push_back({{"id", own->id},
                        {"verdict", to_string(Verdict::undecided)},
                        {"measured", Json::object()},
                        {"why", why},
                        {"parts", Json::array()}});
    }
  }
  for (const Check& check : context.checks())
    checks.push_back({{"id", fmt::format("pliant/{}/{}", experiment.name, checks.size() + 1)},
                      {"text", check.text},
                      {"expected", check.expected},
                      {"measured", check.measured},
                      {"holds", check.holds}});
  const Machine machine = this_machine();
  return {{"experiment", experiment.name},
          {"summary", experiment.summary},
          {"size", context.quick() ? "quick" : "full"},
          {"options", context.options()},
          {"version", version()},
          {"commit", commit()},
          {"machine", {{"processor", machine.processor}, {"cores", machine.cores}}},
          {"seconds", ending.seconds},
          {"processor_seconds", ending.processor_seconds},
          {"unfinished", ending.unfinished},
          {"claims", claims},
          {"checks", checks},
          {"rows", context.rows()},
          {"curves", context.curves()}};
}

std::string table(const std::vector<Json>& rows) {
  if (rows.empty()) return "";
  std::vector<std::vector<std::string>> lines(1);
  for (const auto& [key, value] : rows.front().items())
    if (value.is_primitive()) lines[0].push_back(key);
  for (const Json& row : rows) {
    lines.emplace_back();
    for (const std::string& key : lines[0]) lines.back().push_back(row.contains(key) ? cell(row[key]) : "");
  }
  std::string text;
  std::vector<std::size_t> width(lines[0].size(), 0);
  for (const auto& line : lines)
    for (std::size_t c = 0; c < line.size(); ++c) width[c] = std::max(width[c], line[c].size());
  for (const auto& line : lines) {
    for (std::size_t c = 0; c < line.size(); ++c) text += fmt::format("{:<{}}  ", line[c], width[c]);
    text += '\n';
  }
  return text;
}

std::string table_line(const Json& row) {
  std::string text;
  for (const auto& [key, value] : row.items())
    if (value.is_primitive()) text += fmt::format("{}={} ", key, cell(value));
  return text + '\n';
}

}  // namespace pliant::experiments
