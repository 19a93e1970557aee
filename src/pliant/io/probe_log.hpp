#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "pliant/io/telemetry.hpp"
#include "pliant/sim/sharing.hpp"
#include "pliant/simulation/probe.hpp"

namespace pliant {

/// probes.csv: a line of names, then one for the start and for each step: its number, the time, and what the probes of
/// the scene see. Numbers read back as the same bits; what is not known or not finite is left empty.
///
/// Of several processes that share a simulation, all call everything together, and the first writes.
class ProbeLog {
 public:
  /// Begins the file with the present state. Without probes there is no file.
  static ProbeLog begin(const std::filesystem::path& file, Simulation& simulation);
  /// Goes on after the line of the present state; later lines are cut off. A file that has other columns, or not all
  /// lines, is begun anew from here, and `notice` is told.
  static ProbeLog resume(const std::filesystem::path& file, Simulation& simulation,
                         const std::function<void(const std::string&)>& notice);

  /// Appends the present state. The model may have been cut since the last call.
  void add_state();
  void flush_to_disk() {
    if (log_) log_->flush_to_disk();
  }

 private:
  explicit ProbeLog(Simulation& simulation);
  bool writes() const { return !sharing_ || sharing_->is_first(); }

  Simulation& simulation_;
  ProbeSet probes_;
  Sharing* sharing_;
  std::optional<StepLog> log_;
};

}  // namespace pliant
