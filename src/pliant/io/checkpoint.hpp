#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pliant/simulation/simulation.hpp"

namespace pliant {

/// A snapshot on disk, with what the results of a run need besides.
struct Checkpoint {
  Snapshot snapshot;
  std::int64_t not_finite = 0;  ///< values that frames so far hold as 0 because they were not finite
  std::vector<double> frames;   ///< times of the frames written so far, s
};

/// One file: a magic word with the format's version, the content, and a checksum over all of it, written atomically, so
/// that a kill or a full disk leaves the earlier ones as they were. Throws std::system_error.
void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint);
/// The content of such a file. Throws InputError, whose text follows a name ("is damaged or cut short").
Checkpoint checkpoint_from_bytes(std::string_view bytes);
/// Throws InputError when the file is truncated, corrupt or of another format.
Checkpoint read_checkpoint(const std::filesystem::path& file);

/// A simulation to a file and back, as the command line's runs do. Loading refuses the file of another scene, by name.
void save(const Simulation& simulation, const std::filesystem::path& file);
void load(Simulation& simulation, const std::filesystem::path& file);

/// A folder of checkpoints, of which the last two are kept: should the disk damage one, the other is still there.
class CheckpointFolder {
 public:
  explicit CheckpointFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void write(const Checkpoint& checkpoint);
  /// The newest readable one; `notice` is told about those that are not. Nothing when there is none.
  std::optional<Checkpoint> newest(const std::function<void(const std::string&)>& notice) const;
  /// Files, oldest first.
  std::vector<std::filesystem::path> files() const;

 private:
  std::filesystem::path folder_;
};

}  // namespace pliant
