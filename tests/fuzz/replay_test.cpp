// Every reader gets every file of every corpus: what the fuzzer once found, and what it starts from.

#include <gtest/gtest.h>

#include <filesystem>

#include "fuzz/readers.hpp"
#include "pliant/base/error.hpp"
#include "pliant/mesh/formats/file_content.hpp"

namespace pliant::test {
namespace {

const std::filesystem::path corpus = std::filesystem::path(PLIANT_SOURCE_DIR) / "tests" / "fuzz" / "corpus";

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Corpus, IsReadOrRefusedByEveryReader) {
  const auto files = files_in(corpus);
  EXPECT_GT(files.size(), 20u);
  for (const auto& file : files) {
    SCOPED_TRACE(file.string());
    if (std::filesystem::file_size(file) == 0) continue;
    const FileContent content(file);
    for (const FuzzedReader& reader : fuzzed_readers())
      EXPECT_NO_THROW(try_to_read(reader, content.bytes())) << reader.name;
  }
}

TEST(Corpus, HasWholeFilesForEveryReader) {
  for (const FuzzedReader& reader : fuzzed_readers()) {
    if (std::string_view(reader.name) == "any") continue;  // starts from those of the others
    int whole = 0;
    for (const auto& file : files_in(corpus / reader.name)) {
      if (!file.filename().string().starts_with("good")) continue;
      ++whole;
      EXPECT_NO_THROW(reader.read(FileContent(file).bytes())) << file;
    }
    EXPECT_GE(whole, 1) << reader.name;
  }
}

TEST(Corpus, HasNoFileThatIsRefusedWithoutAPlace) {
  // "file:line: ...", "file: byte N: ..." or, of meshes that are whole but wrong, the element or the cell.
  for (const FuzzedReader& reader : fuzzed_readers()) {
    if (std::string_view(reader.name) == "any") continue;
    for (const auto& file : files_in(corpus / reader.name)) {
      if (!file.filename().string().starts_with("bad")) continue;
      try {
        reader.read(FileContent(file).bytes());
        ADD_FAILURE() << file << " was read";
      } catch (const InputError& error) {
        const std::string message = error.what();
        EXPECT_TRUE(message.starts_with("fuzz")) << file << ": " << message;
        EXPECT_LT(message.size(), 400u) << file;
      }
    }
  }
}

}  // namespace
}  // namespace pliant::test
