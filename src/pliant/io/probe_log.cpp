#include "pliant/io/probe_log.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "pliant/base/file_content.hpp"

namespace pliant {

namespace {

/// Quoted where a comma or a quote would part it in two.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string head(const ProbeSet& probes) {
  std::string line = "step,time (s)";
  for (const std::string& column : probes.columns()) line += "," + csv_cell(column);
  return line;
}

/// Bytes of the head and the lines up to and with that of `step`; 0 where they are not all there.
std::size_t kept_bytes(std::string_view text, const std::string& head, std::int64_t step) {
  if (!text.starts_with(head + "\n")) return 0;
  std::size_t kept = head.size() + 1;
  for (std::int64_t expected = 0; expected <= step; ++expected) {
    const std::size_t end = text.find('\n', kept);
    std::int64_t number = -1;
    if (end == std::string_view::npos) return 0;
    std::from_chars(text.data() + kept, text.data() + end, number);
    if (number != expected) return 0;
    kept = end + 1;
  }
  return kept;
}

}  // namespace

ProbeLog::ProbeLog(Simulation& simulation)
    : simulation_(simulation),
      probes_(simulation.scene(), simulation.model()),
      sharing_(simulation.model()->sharing()) {}

ProbeLog ProbeLog::begin(const std::filesystem::path& file, Simulation& simulation) {
  ProbeLog log(simulation);
  if (log.probes_.empty()) return log;
  if (log.writes()) {
    log.log_ = StepLog::begin(file);
    log.log_->append(head(log.probes_));
  }
  log.add_state();
  return log;
}

ProbeLog ProbeLog::resume(const std::filesystem::path& file, Simulation& simulation,
                          const std::function<void(const std::string&)>& notice) {
  ProbeLog log(simulation);
  if (log.probes_.empty()) return log;
  std::size_t kept = 0;
  if (log.writes() && std::filesystem::exists(file))
    kept = kept_bytes(FileContent(file).bytes(), head(log.probes_), simulation.state()->step);
  if (log.sharing_ ? log.sharing_->agree(kept == 0) : kept == 0) {
    if (log.writes())
      notice(fmt::format("{} does not have the lines of these probes up to step {}; it begins anew there",
                         file.string(), simulation.state()->step));
    return begin(file, simulation);
  }
  if (!log.writes()) return log;
  std::filesystem::resize_file(file, kept);
  log.log_ = StepLog::go_on(file);
  return log;
}

void ProbeLog::add_state() {
  if (probes_.empty()) return;
  if (probes_.model() != simulation_.model()) probes_ = ProbeSet(simulation_.scene(), simulation_.model());
  const State& state = *simulation_.state();
  std::string line = fmt::format("{},{}", state.step, state.time);
  const std::vector<double> values = probes_.sample(simulation_);
  if (!log_) return;
  for (double value : values) line += std::isfinite(value) ? fmt::format(",{}", value) : ",";
  log_->append(line);
}

}  // namespace pliant
