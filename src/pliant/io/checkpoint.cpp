#include "pliant/io/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>
#include <type_traits>

#include "pliant/base/atomic_file.hpp"
#include "pliant/base/error.hpp"

namespace pliant {

namespace {

// The last digit is the version of the format. Numbers are stored as the machine has them (little-endian IEEE).
constexpr std::string_view kMagic = "PLIANT-CHECKPOINT-3\n";

class Writer {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class T>
  void put_array(const T* data, std::size_t count) {
    put(static_cast<std::uint64_t>(count));
    bytes_.append(reinterpret_cast<const char*>(data), count * sizeof(T));
  }
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  template <class T>
  T get() {
    T value;
    take(&value, sizeof value);
    return value;
  }
  /// Calls make_room(count), which returns where the items go.
  template <class T, class MakeRoom>
  void get_array(MakeRoom&& make_room) {
    const auto count = get<std::uint64_t>();
    if (count > bytes_.size() / sizeof(T)) throw InputError("is cut short");
    take(make_room(count), count * sizeof(T));
  }
  bool empty() const { return bytes_.empty(); }

 private:
  void take(void* to, std::size_t count) {
    if (count > bytes_.size()) throw InputError("is cut short");
    if (count > 0) std::memcpy(to, bytes_.data(), count);
    bytes_.remove_prefix(count);
  }
  std::string_view bytes_;
};

std::uint64_t checksum(std::string_view bytes) {
  Hash hash;
  hash.add(bytes.data(), bytes.size());
  return hash.value();
}

Checkpoint decode(std::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic) throw InputError("is not a checkpoint of this version of pliant");
  if (bytes.size() < kMagic.size() + sizeof(std::uint64_t)) throw InputError("is cut short");
  const std::string_view content = bytes.substr(0, bytes.size() - sizeof(std::uint64_t));
  if (Reader(bytes.substr(content.size())).get<std::uint64_t>() != checksum(content))
    throw InputError("is damaged or cut short (its checksum does not match)");

  Reader in(content.substr(kMagic.size()));
  Checkpoint checkpoint;
  checkpoint.snapshot.fingerprint = in.get<Fingerprint>();
  State& state = checkpoint.snapshot.state;
  state.time = in.get<double>();
  state.step = in.get<std::int64_t>();
  const auto room_in = [](VecX& x) {
    return [&x](std::uint64_t count) {
      x.resize(static_cast<Eigen::Index>(count));
      return x.data();
    };
  };
  in.get_array<double>(room_in(state.x));
  in.get_array<double>(room_in(state.v));
  in.get_array<double>([&](std::uint64_t count) {
    state.activation.resize(count);
    return state.activation.data();
  });
  in.get_array<double>([&](std::uint64_t count) {
    checkpoint.snapshot.memory.resize(count);
    return checkpoint.snapshot.memory.data();
  });
  const auto frames = in.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < frames; ++i) {
    FilmFrame frame;
    frame.time = in.get<double>();
    in.get_array<float>([&](std::uint64_t count) {
      frame.positions.resize(count);
      return frame.positions.data();
    });
    checkpoint.film.push_back(std::move(frame));
  }
  if (!in.empty()) throw InputError("is longer than it should be");
  return checkpoint;
}

}  // namespace

void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint) {
  Writer out;
  out.bytes() = kMagic;
  out.put(checkpoint.snapshot.fingerprint);
  out.put(checkpoint.snapshot.state.time);
  out.put(checkpoint.snapshot.state.step);
  out.put_array(checkpoint.snapshot.state.x.data(), static_cast<std::size_t>(checkpoint.snapshot.state.x.size()));
  out.put_array(checkpoint.snapshot.state.v.data(), static_cast<std::size_t>(checkpoint.snapshot.state.v.size()));
  out.put_array(checkpoint.snapshot.state.activation.data(), checkpoint.snapshot.state.activation.size());
  out.put_array(checkpoint.snapshot.memory.data(), checkpoint.snapshot.memory.size());
  out.put(static_cast<std::uint64_t>(checkpoint.film.size()));
  for (const FilmFrame& frame : checkpoint.film) {
    out.put(frame.time);
    out.put_array(frame.positions.data(), frame.positions.size());
  }
  out.put(checksum(out.bytes()));
  write_durably(file, out.bytes());
}

Checkpoint read_checkpoint(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream bytes;
  if (!in || !(bytes << in.rdbuf())) throw InputError(fmt::format("checkpoint {} cannot be read", file.string()));
  try {
    return decode(bytes.view());
  } catch (const InputError& error) {
    throw InputError(fmt::format("checkpoint {} {}", file.string(), error.what()));
  }
}

void save(const Simulation& simulation, const std::filesystem::path& file) {
  write_checkpoint(file, {simulation.snapshot(), {}});
}

void load(Simulation& simulation, const std::filesystem::path& file) {
  const Checkpoint checkpoint = read_checkpoint(file);
  if (const Fingerprint& own = simulation.fingerprint(); checkpoint.snapshot.fingerprint != own)
    throw InputError(fmt::format("checkpoint {} belongs to another scene: {} differ; undo the change", file.string(),
                                 checkpoint.snapshot.fingerprint.difference(own)));
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
