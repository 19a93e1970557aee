#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pliant/simulation/fingerprint.hpp"

namespace pliant {

/// What a simulation goes on from with the same bits: where it is, how many cuts it has made, and what its stepper
/// keeps from step to step (Stepper::memory). The state alone is not enough for methods that keep a matrix.
/// Checkpoints, the viewer's saved states and Python's snapshots are all this and nothing else.
///
/// What is given from outside between steps is not in it, since whoever gives it has it: grabs (none are held after a
/// restore) and driven positions (they stay as they are; set them before the next step, as before any other).
/// Activations are part of the state.
struct Snapshot {
  Fingerprint fingerprint;  ///< of the scene as it was given
  std::uint64_t cuts = 0;   ///< how many of the scene's cuts had been made
  State state;              ///< without grabs
  std::vector<double> memory;
};

/// A magic word with the format's version, the content, and a checksum over all of it.
std::string to_bytes(const Snapshot& snapshot);
/// Throws InputError, worded to follow the name of where the bytes come from, when they are truncated, changed or of
/// another format.
Snapshot snapshot_from_bytes(std::string_view bytes);

}  // namespace pliant
