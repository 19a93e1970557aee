#include "pliant/io/telemetry.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "pliant/base/error.hpp"
#include "pliant/base/file_content.hpp"
#include "pliant/sim/judgement.hpp"

namespace pliant {

namespace {

// Keys stay in the order they are written, and numbers come out in the shortest form that reads back as the same bits.
using Json = nlohmann::ordered_json;

Json to_json(const StageSeconds& s) {
  return {{"assembly", s.assembly}, {"factorisation", s.factorisation},
          {"solve", s.solve},       {"line_search", s.line_search},
          {"contact", s.contact},   {"total", s.total}};
}

StageSeconds seconds_from(const Json& json) {
  return {json.at("assembly"),    json.at("factorisation"), json.at("solve"),
          json.at("line_search"), json.at("contact"),       json.at("total")};
}

/// Throws InputError for a name that is none.
Outcome outcome_named(std::string_view name) {
  for (Outcome outcome : kOutcomes)
    if (to_string(outcome) == name) return outcome;
  throw InputError(fmt::format("'{}' is not an outcome of a step", name.substr(0, 100)));
}

/// The sums need what add() reads, no more.
StepReport report_from(const Json& json) {
  StepReport report;
  report.iterations = json.at("iterations");
  report.factorisations = json.at("factorisations");
  report.failed_factorisations = json.at("failed_factorisations");
  report.linear_iterations = json.value("linear_iterations", 0);
  report.projected_iterations = json.at("projected_iterations");
  report.line_search_evaluations = json.at("line_search_evaluations");
  report.smallest_alpha = json.at("smallest_alpha");
  report.seconds = seconds_from(json.at("seconds"));
  report.outcome = outcome_named(json.at("outcome").get<std::string>());
  if (const auto figures = json.find("figures"); figures != json.end())
    for (const std::string_view name : {"repaired", "corrections", "ended_by_newton"})
      report.figures.push_back({name, figures->value(std::string(name), 0.0)});
  return report;
}

}  // namespace

std::string step_line(std::int64_t step, double time, const StepReport& report) {
  Json json = {{"step", step},
               {"time", time},
               {"outcome", to_string(report.outcome)},
               {"detail", report.detail},
               {"iterations", report.iterations},
               {"factorisations", report.factorisations},
               {"failed_factorisations", report.failed_factorisations},
               {"linear_iterations", report.linear_iterations},
               {"projected_iterations", report.projected_iterations},
               {"line_search_evaluations", report.line_search_evaluations},
               {"smallest_alpha", report.smallest_alpha},
               {"energy", report.energy},
               {"residuals",
                {{"force", report.residuals.force},
                 {"acceleration", report.residuals.acceleration},
                 {"step_length", report.residuals.step_length}}},
               {"minimum_gap", report.minimum_gap},
               {"contacts", report.contacts},
               {"seconds", to_json(report.seconds)}};
  for (const Figure& figure : report.figures) json["figures"][std::string(figure.name)] = figure.value;
  if (!report.history.empty()) {
    Json history = Json::array();
    for (const IterationRecord& r : report.history) {
      history.push_back({{"energy", r.energy},
                         {"force", r.force},
                         {"acceleration", r.acceleration},
                         {"step_length", r.step_length},
                         {"alpha", r.alpha},
                         {"projected", r.projected}});
      if (r.primal != 0 || r.secondary != 0)  // of position-based solvers
        history.back().update({{"primal", r.primal}, {"secondary", r.secondary}});
    }
    json["history"] = std::move(history);
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void RunTotals::add(const StepReport& report) {
  ++steps;
  failed_steps += report.succeeded() ? 0 : 1;
  iterations += report.iterations;
  factorisations += report.factorisations;
  failed_factorisations += report.failed_factorisations;
  linear_iterations += report.linear_iterations;
  projected_iterations += report.projected_iterations;
  line_search_evaluations += report.line_search_evaluations;
  newton_steps += was_ended_by_newton(report) ? 1 : 0;
  smallest_alpha = std::min(smallest_alpha, report.smallest_alpha);
  ++outcomes[std::string(to_string(report.outcome))];
  seconds.assembly += report.seconds.assembly;
  seconds.factorisation += report.seconds.factorisation;
  seconds.solve += report.seconds.solve;
  seconds.line_search += report.seconds.line_search;
  seconds.contact += report.seconds.contact;
  seconds.total += report.seconds.total;
}

StepLog::StepLog(const std::filesystem::path& file, const char* mode)
    : path_(file), file_(std::fopen(file.c_str(), mode)) {
  if (!file_) fail();
}

void StepLog::fail() const {
  const int reason = errno;
  throw std::system_error(reason, std::generic_category(), path_.string() + ": cannot be written");
}

StepLog StepLog::begin(const std::filesystem::path& file) { return StepLog(file, "wb"); }

StepLog StepLog::go_on(const std::filesystem::path& file) { return StepLog(file, "ab"); }

StepLog StepLog::resume(const std::filesystem::path& file, std::int64_t steps, RunTotals& totals,
                        const std::function<void(const std::string&)>& notice) {
  std::optional<FileContent> content;
  if (std::filesystem::exists(file)) content.emplace(file);
  const std::string_view text = content ? content->bytes() : std::string_view();
  std::size_t kept = 0;
  std::int64_t last = 0, lines = 0;
  while (last < steps) {
    const std::size_t end = text.find('\n', kept);
    if (end == std::string_view::npos) break;
    const std::string_view line = text.substr(kept, end - kept);
    const Json json = Json::parse(line, nullptr, false);
    try {
      const auto step = json.at("step").get<std::int64_t>();
      if (step <= last || step > steps) break;
      totals.add(report_from(json));
      last = step;
    } catch (const std::exception&) {
      break;
    }
    ++lines;
    kept = end + 1;
  }
  content.reset();
  if (lines < steps)
    notice(fmt::format("{} has the reports of {} of the {} steps before the checkpoint; totals count those only",
                       file.string(), lines, steps));
  std::error_code error;
  if (kept > 0) std::filesystem::resize_file(file, kept, error);
  if (error) throw std::system_error(error, file.string() + ": cannot be shortened");
  return StepLog(file, kept > 0 ? "ab" : "wb");
}

void StepLog::append(const std::string& line) {
  const std::string text = line + '\n';
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size() || std::fflush(file_.get()) != 0) fail();
}

void StepLog::flush_to_disk() {
  if (std::fflush(file_.get()) != 0 || ::fsync(::fileno(file_.get())) != 0) fail();
}

}  // namespace pliant
