// The entry point libFuzzer calls; one program per reader, which the build names.

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "fuzz/inputs.hpp"
#include "fuzz/readers.hpp"

namespace {

const pliant::test::FuzzedReader& chosen_reader() {
  for (const auto& reader : pliant::test::fuzzed_readers()) {
    if (std::string_view(reader.name) == PLIANT_FUZZED_READER) return reader;
  }
  std::abort();
}

}  // namespace

/// Formats that change with the program have no files in the tree to begin from; they are made here, into the folder
/// PLIANT_FUZZ_SEEDS.
extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  const char* folder = std::getenv("PLIANT_FUZZ_SEEDS");
  const std::string_view name = PLIANT_FUZZED_READER;
  if (!folder || (name != "checkpoint" && name != "state")) return 0;
  std::ofstream(std::string(folder) + "/whole", std::ios::binary)
      << (name == "state" ? pliant::test::whole_state() : pliant::test::whole_checkpoint());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const pliant::test::FuzzedReader& reader = chosen_reader();
  pliant::test::try_to_read(reader, {reinterpret_cast<const char*>(bytes), size});
  return 0;
}
