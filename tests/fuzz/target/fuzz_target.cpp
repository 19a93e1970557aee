// The entry point libFuzzer calls; one program per reader, which the build names.

#include <cstdint>
#include <cstdlib>

#include "fuzz/readers.hpp"

namespace {

const pliant::test::FuzzedReader& chosen_reader() {
  for (const auto& reader : pliant::test::fuzzed_readers()) {
    if (std::string_view(reader.name) == PLIANT_FUZZED_READER) return reader;
  }
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const pliant::test::FuzzedReader& reader = chosen_reader();
  pliant::test::try_to_read(reader, {reinterpret_cast<const char*>(bytes), size});
  return 0;
}
