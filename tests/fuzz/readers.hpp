#pragma once

#include <string_view>
#include <vector>

namespace pliant::test {

/// One reader of files or messages, as the fuzzer and the replay of its corpus see it: it takes any bytes, and either
/// reads them or throws InputError. Whatever is read goes through the checks of the mesh as well.
struct FuzzedReader {
  const char* name;  ///< also that of its folder under corpus/
  void (*read)(std::string_view content);
};

const std::vector<FuzzedReader>& fuzzed_readers();

/// Reads, and swallows the InputError that bad bytes deserve.
void try_to_read(const FuzzedReader& reader, std::string_view content);

}  // namespace pliant::test
