#include "pliant/io/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "pliant/base/atomic_file.hpp"
#include "pliant/base/bytes.hpp"
#include "pliant/base/file_content.hpp"
#include "pliant/sim/sharing.hpp"

namespace pliant {

namespace {

constexpr std::string_view kMagic = "PLIANT-CHECKPOINT-6\n";  // the digit is the format's version

}  // namespace

Checkpoint checkpoint_from_bytes(std::string_view bytes) {
  ByteReader in(unseal(kMagic, bytes, "checkpoint"));
  Checkpoint checkpoint;
  checkpoint.snapshot = snapshot_from_bytes(in.get_text());
  checkpoint.not_finite = in.get<std::int64_t>();
  in.get_array<double>([&](std::uint64_t count) {
    checkpoint.frames.resize(count);
    return checkpoint.frames.data();
  });
  if (!in.empty()) throw InputError("is longer than it should be");
  return checkpoint;
}

void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint) {
  ByteWriter out;
  out.put_text(to_bytes(checkpoint.snapshot));
  out.put(checkpoint.not_finite);
  out.put_array(checkpoint.frames.data(), checkpoint.frames.size());
  write_durably(file, seal(kMagic, out.bytes()));
}

Checkpoint read_checkpoint(const std::filesystem::path& file) {
  const FileContent content(file);
  try {
    return checkpoint_from_bytes(content.bytes());
  } catch (const InputError& error) {
    throw InputError(fmt::format("checkpoint {} {}", file.string(), error.what()));
  }
}

namespace {

/// What one process does for all.
void on_first(Sharing* sharing, const std::function<void()>& work) {
  if (sharing)
    sharing->on_first(work);
  else
    work();
}

}  // namespace

void save(const Simulation& simulation, const std::filesystem::path& file) {
  const Checkpoint checkpoint{simulation.snapshot(), 0, {}};
  on_first(simulation.model()->sharing(), [&] { write_checkpoint(file, checkpoint); });
}

void load(Simulation& simulation, const std::filesystem::path& file) {
  Checkpoint checkpoint;
  on_first(simulation.model()->sharing(), [&] {
    checkpoint = read_checkpoint(file);
    if (const Fingerprint& own = simulation.fingerprint(); checkpoint.snapshot.fingerprint != own)
      throw InputError(fmt::format("checkpoint {} belongs to another scene: {} differ; undo the change", file.string(),
                                   checkpoint.snapshot.fingerprint.difference(own)));
  });
  simulation.restore(checkpoint.snapshot);
}

void CheckpointFolder::write(const Checkpoint& checkpoint) {
  std::filesystem::create_directories(folder_);
  std::error_code error;
  const std::filesystem::path file = folder_ / fmt::format("step_{:09}.pliant", checkpoint.snapshot.state.step);
  write_checkpoint(file, checkpoint);
  std::vector<std::filesystem::path> all = files();
  // A run that was resumed from the older of two has newer ones beyond its own; they are the past of another attempt.
  std::erase_if(all, [&](const auto& other) { return other > file && std::filesystem::remove(other, error); });
  for (std::size_t i = 0; i + 2 < all.size(); ++i) std::filesystem::remove(all[i], error);
}

std::vector<std::filesystem::path> CheckpointFolder::files() const {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error))
    if (entry.path().extension() == ".pliant") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<Checkpoint> CheckpointFolder::newest(const std::function<void(const std::string&)>& notice) const {
  const std::vector<std::filesystem::path> all = files();
  for (auto file = all.rbegin(); file != all.rend(); ++file) {
    try {
      return read_checkpoint(*file);
    } catch (const InputError& error) {
      notice(fmt::format("{}; trying the one before", error.what()));
    }
  }
  return std::nullopt;
}

}  // namespace pliant
